/**
 * Headers of every response: load resources and submit forms only here, forbid frames, and store nothing. The referrer
 * policy is not `no-referrer`, because browsers would then send `Origin: null` with our own forms.
 */
export function securityHeaders(origin: string): Record<string, string> {
  return {
    'content-security-policy':
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'cache-control': 'no-store',
    vary: 'Cookie, Accept-Encoding',
    ...(origin.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
}
