import { expect, test } from 'vitest'
import { sizeText } from '../../src/web/size-text.ts'

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [2, '2 bytes'],
  [1024, '1 KB'],
  [1024 * 1024, '1 MB'],
  [1.5 * 1024 ** 3, '1.5 GB'],
])('%i bytes are shown as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
