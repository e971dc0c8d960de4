/** The public keys that an account is known by (protocol 3.1). */
import { buildFieldFault } from '../../core/fault.ts'
import { Refusal, requireKeyProof } from '../../sigchain/index.ts'

type Given = {
  email: string
  public_key: string
  signing_key?: string | undefined
  key_proof?: string | undefined
}

/**
 * The columns of a signing key, which comes with the proof that one person holds both keys.
 *
 * @throws Fault `validation_error`
 */
export async function identityValues({ email, public_key, signing_key, key_proof }: Given) {
  if (signing_key === undefined && key_proof === undefined) return {}
  const [signing, proof] = [signing_key ?? '', key_proof ?? '']
  try {
    await requireKeyProof({ signing_key: signing, public_key }, email, proof)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw buildFieldFault('key_proof', 'must be a signature by signing_key of address and keys')
  }
  return { signingKey: Uint8Array.fromBase64(signing), keyProof: Uint8Array.fromBase64(proof) }
}
