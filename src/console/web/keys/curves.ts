/** Loads X25519 and Ed25519 from @noble/curves if the browser's Web Crypto lacks one of them. */

/** Call this before any other use of keys. */
export async function ensureCurves(): Promise<void> {
  const [x25519, ed25519] = await Promise.all([
    has('X25519', ['deriveBits']),
    has('Ed25519', ['sign', 'verify']),
  ])
  if (x25519 && ed25519) return
  const { addCurves } = await import('./noble_curves.ts')
  addCurves({ x25519, ed25519 })
}

function has(name: string, usages: KeyUsage[]): Promise<boolean> {
  return crypto.subtle.generateKey({ name }, false, usages).then(
    () => true,
    () => false,
  )
}
