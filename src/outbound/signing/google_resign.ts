/**
 * Signs with the real key what clients sign with the stand-in of a Google service account's key: the assertion (RFC
 * 7523) that Google's token endpoint exchanges for a token, and a self-signed token that an API accepts. Each signature
 * is valid only for the host of the call. The token for an assertion stays in this process, and the client gets a
 * ticket for it.
 *
 * A library for JWTs, such as `jose`, would replace the three lines that encode and sign, and make them asynchronous;
 * it reads no token that has a placeholder in place of its signature.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { Secret } from '../../core/secret.ts'
import type { NamedBytes } from '../../leak_guard/index.ts'
import { bytesOf, type Call, contentTypeOf } from '../call.ts'
import type { Target } from '../target.ts'
import type { Signature } from './client_signature.ts'
import { type Assertion, assertionIn, bearerIn, isForm } from './google_assertion.ts'
import { bytesIn, withAuthorization } from './signature.ts'
import { ticketsFor } from './token_answer.ts'

const MAX_BITS = 4096

/** @throws Fault `invalid_header`, `validation_error` */
export function googleSignature({ headers, body }: Call, target: Target): Signature | null {
  const bearer = bearerIn(headers, target)
  if (bearer) {
    return {
      place: 'header',
      uses: [useOf(bearer)],
      sign: (request, values) => {
        const { token, signature } = signAssertion(bearer, values)
        return {
          ...request,
          headers: withAuthorization(request.headers, `Bearer ${token}`),
          signatures: signature,
        }
      },
    }
  }
  const form = formIn(headers, bytesOf(body))
  const assertion = form && assertionIn(form, target)
  if (!assertion) return null
  return {
    place: 'body',
    uses: [useOf(assertion)],
    sign: (request, values) => {
      const { token, signature } = signAssertion(assertion, values)
      form.set('assertion', token)
      return {
        ...request,
        body: { bytes: Buffer.from(form.toString()) },
        signatures: signature,
        received: ticketsFor(assertion.name, bytesIn(values, assertion.name)),
      }
    },
  }
}

function useOf({ name, isForeign }: Assertion): Signature['uses'][number] {
  return { name, style: 'google_jwt', header: 'authorization', isForeign }
}

function formIn(headers: Call['headers'], bytes: Uint8Array | null): URLSearchParams | null {
  const text = bytes && isForm(contentTypeOf(headers)) ? fromUtf8(bytes) : null
  return text?.includes('assertion=') ? new URLSearchParams(text) : null
}

/** The client's claims, for the key's account. */
function signAssertion(
  { name, claims }: Assertion,
  values: ReadonlyMap<string, Secret>,
): { token: string; signature: NamedBytes[] } {
  const { email, keyId, key } = accountIn(name, bytesIn(values, name))
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === null ? {} : { kid: keyId }) }
  const isOwn = (claim: unknown) => claim === claims.iss
  const told = { ...claims, iss: email, ...(isOwn(claims.sub) ? { sub: email } : {}) }
  const text = [header, told]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const made = sign('sha256', Buffer.from(text), key)
  const written = made.toString('base64url')
  const signature = [Buffer.from(written), made].map((bytes) => ({ name, bytes }))
  return { token: `${text}.${written}`, signature }
}

type Account = { email: string; keyId: string | null; key: KeyObject }

/** @throws Fault `unusable_secret` */
function accountIn(name: string, value: Uint8Array): Account {
  try {
    const {
      type,
      client_email: email,
      private_key_id: keyId,
      private_key: pem,
    } = JSON.parse(fromUtf8(value) ?? '')
    const key = createPrivateKey(pem)
    const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
    const isRsa = key.asymmetricKeyType === 'rsa' && modulusLength <= MAX_BITS
    if (type === 'service_account' && typeof email === 'string' && isRsa) {
      return { email, keyId: typeof keyId === 'string' ? keyId : null, key }
    }
  } catch {
    // Refused below, without the value.
  }
  throw new Fault('unusable_secret', {
    message: `The secret ${name} is not a Google service account file with an RSA key of at most ${MAX_BITS} bits.`,
  })
}
