import { ApiError } from '../../model/errors.ts'

/**
 * Requires that the files of a workspace have room for one more.
 * @param used the bytes that they have
 * @param most the bytes that they may have
 * @throws {ApiError} `insufficient_storage`
 */
export function requireRoom(used: number, size: number, most: number): void {
  if (most === Infinity || used + size <= most) return
  throw new ApiError('insufficient_storage', {
    message: `The files of this workspace have ${used} of ${most} bytes, so this one does not fit. Detach files that nobody needs: a day later, their bytes are free.`,
    members: { used_bytes: used, limit_bytes: most },
  })
}

/** The disk is nearly full. */
export function diskFull(): ApiError {
  return new ApiError('insufficient_storage', {
    message: 'The disk of the service is nearly full, so it takes no files. Nothing was stored.',
  })
}
