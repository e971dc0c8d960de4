/**
 * The only way in which our page names a script: its Content-Security-Policy lets no text be run, and takes
 * addresses of scripts from this policy alone, which lets those below /console/ pass.
 */
type Policy = { createScriptURL(url: string): unknown }
type TrustedTypes = { createPolicy(name: string, rules: Policy): Policy }

/** Not in every browser yet, and not among TypeScript's types. */
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }

const policy = trustedTypes?.createPolicy('cloakroom', {
  createScriptURL: (url) => {
    const { origin, pathname } = new URL(url, location.origin)
    if (origin === location.origin && pathname.startsWith('/console/')) return url
    throw new TypeError('a script from elsewhere')
  },
})

export function scriptUrl(url: string): string {
  return policy ? (policy.createScriptURL(url) as string) : url
}
