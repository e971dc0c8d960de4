/** Virtual authenticators, with which a page creates and uses passkeys. */
import type { Visitor } from './browser.ts'

/** Attaches a device with a fingerprint reader that always confirms. */
export async function attachAuthenticator({ tools }: Pick<Visitor, 'tools'>, hasPrf: boolean) {
  await tools.send('WebAuthn.enable')
  const { authenticatorId } = await tools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      hasPrf,
    },
  })
  return {
    forget: () => tools.send('WebAuthn.clearCredentials', { authenticatorId }),
  }
}
