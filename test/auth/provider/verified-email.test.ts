import { describe, expect, test } from 'vitest'
import { verifiedEmail } from '../../../src/auth/provider/identity-provider.ts'

const iss = 'https://login.example'
const MICROSOFT = 'https://login.microsoftonline.com/tenant/v2.0'
const email = 'Ann@Acme.example'

describe('the verified address of an ID token', () => {
  test.each([
    { iss, email, email_verified: true },
    { iss, email, email_verified: 'true' },
    { iss, email, email_verified: 1 },
    { iss, email, email_verified: '1' },
    { iss: MICROSOFT, email, xms_edov: true },
    { iss: MICROSOFT, email, xms_edov: '1' },
  ])('is normalized: %j', (claims) => {
    expect(verifiedEmail(claims)).toBe('ann@acme.example')
  })

  test.each([
    { iss, email },
    { iss, email, email_verified: false },
    { iss, email, email_verified: 'false' },
    { iss, email, email_verified: 0 },
    { iss, email, email_verified: [true] },
    { iss, email, email_verified: {} },
    { iss, email, xms_edov: true },
    { iss: `https://login.example/${MICROSOFT}`, email, xms_edov: true },
    { iss: 'https://login.microsoftonline.com.evil.example/', email, xms_edov: true },
    { iss: MICROSOFT, email, xms_edov: false },
    { iss: MICROSOFT, email },
    { iss, email_verified: true },
    { iss, email: ['ann@acme.example'], email_verified: true },
    { iss, email: 'ann', email_verified: true },
    { iss, email: '\u212aann@acme.example', email_verified: true },
    { iss, email: 'ann@acme.example\n', email_verified: true },
    { iss, email: ' ann@acme.example', email_verified: true },
  ])('does not count as verified: %j', (claims) => {
    expect(verifiedEmail(claims)).toBeUndefined()
  })
})
