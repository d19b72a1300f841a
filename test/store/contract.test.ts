import { describe } from 'vitest'
import { contract } from '../support/contract.ts'
import { drivers } from '../support/drivers.ts'

describe.each(drivers)('the storage port on $name', (driver) => contract(async () => (await driver.open()).store))
