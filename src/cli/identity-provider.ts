import { readSecretFile } from '../auth/key-file.ts'
import { IdentityProvider } from '../auth/provider/identity-provider.ts'
import { SecretKeyError } from '../auth/secret-keys.ts'
import { ConfigError, type Config } from '../config.ts'
import { systemClock } from '../model/time.ts'

/**
 * The identity provider of the settings, or undefined. It is not contacted before somebody signs in, so that an outage does
 * not stop the service.
 * @throws {ConfigError}
 */
export function openProvider({
  oidcIssuer: issuer,
  oidcClientId: clientId,
  oidcClientSecret,
  oidcClientSecretFile,
  oidcAuthMethod: authMethod,
  oidcName: name,
}: Config): IdentityProvider | undefined {
  if (issuer === undefined || clientId === undefined) return undefined
  const clientSecret = oidcClientSecret ?? secretIn(oidcClientSecretFile!)
  return new IdentityProvider({ issuer, clientId, clientSecret, authMethod, name }, systemClock)
}

function secretIn(path: string): string {
  try {
    const secret = readSecretFile(path)?.trim() ?? ''
    if (secret === '') throw new ConfigError(`LANEKEEPER_OIDC_CLIENT_SECRET_FILE: there is no secret in ${path}`)
    return secret
  } catch (error) {
    if (error instanceof SecretKeyError) throw new ConfigError(`LANEKEEPER_OIDC_CLIENT_SECRET_FILE: ${error.message}`)
    throw error
  }
}
