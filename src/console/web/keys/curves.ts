/** X25519 and Ed25519, which not every browser's Web Crypto has: where one is missing, our own is loaded in its place. */

/** Before anything else asks for a key. */
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
