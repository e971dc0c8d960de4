/**
 * Passkeys as data (protocol 3.1 and 5.1). The contracts accept only the fields named here: results of extensions, and
 * so the output that unlocks an account, are refused.
 */
import { z } from 'zod'
import { base64Url, line, pagination, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { exampleBytes, exampleOfForm, passkeyId, text } from '../../http/fields.ts'
import { changePassword, login, register } from '../accounts/contract.ts'

/** In WebAuthn an id has at most 1023 bytes. */
const credentialId = base64Url(1023, 16).meta({ examples: [exampleOf('the id of a key ')] })
const clientData = base64Url(4096, 1).meta({
  examples: [exampleOf('{"type":"webauthn.get","origin":"https://vault.example.com"}')],
})
const label = line(100).meta({ examples: ['Laptop'] })
const origin = z
  .string()
  .max(300)
  .meta({ examples: ['https://vault.example.com'] })
const { current_password } = changePassword.body.shape
const { encrypted_private_key: wrapped } = register.body.shape
const encrypted_seed = wrapped.meta({ examples: [exampleOfForm.wrappedKey] })
const transports = z
  .array(z.string().regex(/^[a-z-]{1,32}$/, 'must be names such as usb or hybrid'))
  .max(16)
  .meta({ examples: [['internal', 'hybrid']] })

const shownId = text(exampleOf('the id of a key '))
const rpId = text('vault.example.com')
const challenge = text(exampleOf('a challenge of this server'))

const passkey = z
  .object({
    id: passkeyId,
    credential_id: shownId,
    rp_id: rpId,
    label: text('Laptop'),
    transports,
    /** Whether it holds a copy of the account's present seed. */
    can_unlock: z.boolean(),
    last_used_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Passkey' })

const ofPerson = { unrecorded: login.unrecorded } as const
const ofOne = { params: z.object({ passkey_id: passkeyId }) } as const

export const listPasskeys = defineEndpoint({
  name: 'auth.passkeys.list',
  summary: "List the caller's passkeys, newest first",
  method: 'GET',
  path: '/api/auth/passkeys/',
  access: { kind: 'session' },
  query: pagination,
  result: z.array(passkey),
  paged: true,
})

export const beginPasskey = defineEndpoint({
  name: 'auth.passkeys.begin',
  summary: 'Get the challenge for a new passkey; requires the password',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/passkeys/begin/',
  quotas: ['passkeys'],
  access: { kind: 'session' },
  body: z.strictObject({ current_password, origin }),
  result: z.object({
    challenge,
    rp_id: rpId,
    user_handle: text(exampleBytes(16)),
    /** The passkeys that an authenticator may already have. */
    exclude: z.array(z.object({ credential_id: shownId, transports })),
  }),
  faults: ['conflict'],
})

export const addPasskey = defineEndpoint({
  name: 'auth.passkeys.add',
  summary: 'Add a passkey; it can unlock the account if it has a wrapped seed',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/passkeys/',
  quotas: ['passkeys'],
  access: { kind: 'session' },
  body: z.strictObject({
    label,
    credential: z
      .strictObject({
        id: credentialId,
        client_data_json: clientData,
        attestation_object: base64Url(16_384, 1).meta({ examples: [exampleOf('an attestation')] }),
        transports: transports.default([]),
      })
      .meta({ id: 'NewCredential' }),
    encrypted_seed: encrypted_seed.optional(),
  }),
  result: passkey,
  success: 201,
  faults: ['conflict', 'already_exists'],
})

export const renamePasskey = defineEndpoint({
  name: 'auth.passkeys.rename',
  summary: 'Rename a passkey',
  method: 'PATCH',
  ...ofPerson,
  path: '/api/auth/passkeys/{passkey_id}/',
  access: { kind: 'session' },
  ...ofOne,
  body: z.strictObject({ label }),
  result: passkey,
})

export const removePasskey = defineEndpoint({
  name: 'auth.passkeys.remove',
  summary: 'Remove a passkey and end its sessions',
  method: 'DELETE',
  ...ofPerson,
  path: '/api/auth/passkeys/{passkey_id}/',
  access: { kind: 'session' },
  ...ofOne,
})

export const getPasskeySeed = defineEndpoint({
  name: 'auth.passkeys.seed',
  summary: 'Get the seed wrapped for a passkey, to unlock the current session',
  method: 'GET',
  path: '/api/auth/passkeys/{passkey_id}/seed/',
  access: { kind: 'session' },
  ...ofOne,
  result: z.object({ encrypted_seed: text(exampleOfForm.wrappedKey).nullable() }),
})

export const setPasskeySeed = defineEndpoint({
  name: 'auth.passkeys.set_seed',
  summary: 'Enable unlocking with a passkey, for example after replacing the account keys',
  method: 'PUT',
  ...ofPerson,
  path: '/api/auth/passkeys/{passkey_id}/seed/',
  access: { kind: 'session' },
  ...ofOne,
  body: z.strictObject({ current_password, encrypted_seed }),
  faults: ['conflict'],
})

export const beginPasskeyLogin = defineEndpoint({
  name: 'auth.passkey_login.begin',
  summary: 'Get a challenge for signing in with a passkey; reveals no account',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/login/passkey/begin/',
  access: { kind: 'public', rate: 'login' },
  body: z.strictObject({ origin }),
  result: z.object({ challenge, rp_id: rpId }),
})

export const passkeyLogin = defineEndpoint({
  name: 'auth.passkey_login',
  summary: 'Sign in with a passkey; also returns the wrapped seed if it has one',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/login/passkey/',
  quotas: ['sessions'],
  access: { kind: 'public', rate: 'login' },
  body: z
    .strictObject({
      credential: z
        .strictObject({
          id: credentialId,
          client_data_json: clientData,
          authenticator_data: base64Url(4096, 37).meta({
            examples: [exampleOf('signed statement of the authenticator itself')],
          }),
          signature: base64Url(1024, 1).meta({ examples: [exampleOf('a signature')] }),
          user_handle: base64Url(64, 1).meta({ examples: [exampleOf('id of the person')] }),
        })
        .meta({ id: 'Assertion' }),
    })
    .meta({ id: 'PasskeyLogin' }),
  result: login.result.extend({
    passkey: z.object({
      id: passkeyId,
      /** Null where the password is needed to unlock. */
      encrypted_seed: text(exampleOfForm.wrappedKey).nullable(),
    }),
  }),
  faults: ['invalid_credentials'],
})

export const consolePasskeyLogin = defineEndpoint({
  ...passkeyLogin,
  name: 'auth.console.passkey_login',
  summary: 'Sign in to the console with a passkey, with HttpOnly cookies',
  path: '/api/auth/console/login/passkey/',
  access: { kind: 'public', rate: 'login', console: true },
  result: passkeyLogin.result.omit({ access: true, refresh: true }),
  faults: ['forbidden', 'invalid_credentials'],
})

function exampleOf(content: string): string {
  return new TextEncoder().encode(content).toBase64({ alphabet: 'base64url', omitPadding: true })
}
