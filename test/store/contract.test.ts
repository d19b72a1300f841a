import { describe } from 'vitest'
import { contract } from '../support/contract.ts'
import { driversOfContract } from '../support/drivers.ts'

describe.each(driversOfContract)('the storage port on $name', (driver) => contract(async () => (await driver.open()).store))
