import { mergeConfig } from 'vitest/config'
import config from '../../vitest.config.ts'

const { include: _, ...test } = config.test!
export default mergeConfig({ test }, { test: { include: ['test/setup/interrupted/suite.ts'] } })
