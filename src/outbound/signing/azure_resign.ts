/**
 * Signs client requests again with the real key of an Azure storage account: requests (`SharedKey`, `SharedKeyLite`)
 * and shared access signatures in the query. The signature names no host, so a host that is not known to be the
 * account's needs a policy that lists it.
 */
import { createHmac } from 'node:crypto'
import { Fault } from '../../core/fault.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../../core/names/secret_name.ts'
import type { Secret } from '../../core/secret.ts'
import { bytesOf, type Call, type CallBody } from '../call.ts'
import type { Target } from '../target.ts'
import { buildSharedAccessText, readSharedAccess } from './azure_access.ts'
import {
  type AzureScheme,
  buildSharedKeyText,
  decodePercent,
  isHostOf,
  isTable,
  parametersIn,
} from './azure_text.ts'
import type { Signature } from './client_signature.ts'
import { bytesIn, headerOf, withAuthorization } from './signature.ts'

/** The key's placeholder is in the place of the signature. */
const ACCOUNT_AND_KEY = `([a-z0-9][a-z0-9-]{1,62}):${PLACEHOLDER_PREFIX}(${SECRET_NAME})`
const AUTHORIZATION = new RegExp(`^(SharedKey|SharedKeyLite) ${ACCOUNT_AND_KEY}$`)
const ACCESS = new RegExp(`^SharedKey ${ACCOUNT_AND_KEY}$`)
/** Another spelling would send the key itself. */
const NAMES_KEY = new RegExp(`^\\s*SharedKey.*${PLACEHOLDER_PREFIX}`, 'i')
const RANGES = ['range', 'x-ms-range']
const AZURE =
  /\.(core\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net)|storage\.azure\.net|table\.cosmos\.azure\.com)$/

/**
 * @throws Fault `invalid_target` for a shared access signature with an unknown text, and for another spelling;
 *   `invalid_header` for such a header
 */
export function azureSignature({ headers }: Call, target: Target): Signature | null {
  const authorization = headerOf(headers, 'authorization') ?? ''
  const [, scheme, account = '', name = ''] = AUTHORIZATION.exec(authorization) ?? []
  if (scheme !== undefined) return readSharedKey(scheme as AzureScheme, { account, name, target })
  if (NAMES_KEY.test(authorization)) throw buildOtherFormFault('invalid_header', 'Authorization')
  return readSharedAccessQuery(target)
}

type Named = { account: string; name: string; target: Target }

function readSharedKey(scheme: AzureScheme, { account, name, target }: Named): Signature {
  return {
    place: 'header',
    uses: [useOf(account, name, target)],
    ranges: RANGES,
    sign: (request, values) => {
      const length = lengthOf(request.body)
      const text = buildSharedKeyText(scheme, account, {
        ...request,
        length,
        isTable: isTable(request),
      })
      const made = signText(text, name, values)
      return {
        ...request,
        headers: withAuthorization(request.headers, `${scheme} ${account}:${made.signature}`),
        signatures: made.forms,
      }
    },
  }
}

function readSharedAccessQuery(target: Target): Signature | null {
  const access = target.search.includes(PLACEHOLDER_PREFIX) ? readSharedAccess(target.search) : null
  const [, account = '', name = ''] = ACCESS.exec(access?.get('sig') ?? '') ?? []
  if (name === '') {
    const isNamed = parametersIn(target.search).some(
      ([key, value]) => /^sig$/i.test(decodePercent(key)) && NAMES_KEY.test(decodePercent(value)),
    )
    if (isNamed && access) throw buildOtherFormFault('invalid_target', 'sig')
    return null
  }
  return {
    place: 'query',
    uses: [useOf(account, name, target)],
    ranges: RANGES,
    sign: (request, values) => {
      const text = buildSharedAccessText(account, request)
      if (text === null) throw buildUnsupportedFault()
      const made = signText(text, name, values)
      const sig = `$1sig=${encodeURIComponent(made.signature)}`
      const search = request.search.replace(/([?&])sig=[^&]*/, sig)
      return { ...request, search, signatures: made.forms }
    },
  }
}

function buildOtherFormFault(code: 'invalid_header' | 'invalid_target', where: string): Fault {
  return new Fault(code, {
    message: `${where} does not have the form SharedKey ACCOUNT:${PLACEHOLDER_PREFIX}NAME, so the request cannot be signed.`,
  })
}

function buildUnsupportedFault(): Fault {
  return new Fault('invalid_target', {
    message:
      'This kind of shared access signature is not supported: use an account or service SAS of version 2015-04-05 or later.',
  })
}

function useOf(account: string, name: string, { host }: Target): Signature['uses'][number] {
  const isForeign = !isHostOf(account, host) || !AZURE.test(host)
  return { name, style: 'azure_storage', header: 'authorization', isForeign }
}

function signText(text: string, name: string, values: ReadonlyMap<string, Secret>) {
  const key = storageKeyOf(bytesIn(values, name))
  if (!key) {
    throw new Fault('unusable_secret', {
      message: `The secret ${name} is not a storage account key in base64.`,
    })
  }
  const digest = storageMac(key, text)
  const signature = digest.toString('base64')
  return {
    signature,
    forms: [Buffer.from(signature), digest].map((bytes) => ({ name, bytes })),
  }
}

/** Decodes a key, or returns null if any of it is not base64: decoders would silently shorten it. */
export function storageKeyOf(value: Uint8Array): Uint8Array | null {
  try {
    const key = Uint8Array.fromBase64(Buffer.from(value).toString('latin1').trim())
    return key.length > 0 ? key : null
  } catch {
    return null
  }
}

export function storageMac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function lengthOf(body: CallBody): number | null {
  if (body === null) return null
  return 'bytes' in body ? (bytesOf(body)?.length ?? null) : body.length
}
