import { mergeConfig } from 'vitest/config'
import config, { suiteOptions } from '../../vitest.config.ts'

// The suite is in no tier.
const { projects: _, ...test } = config.test!
export default mergeConfig({ test }, { test: { ...suiteOptions, include: ['test/setup/interrupted/suite.ts'] } })
