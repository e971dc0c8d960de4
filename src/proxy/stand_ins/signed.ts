/**
 * Replaces signatures that a program made with a stand-in of this run by the stand-in's placeholder. The steps of the
 * call sign with the real key. Only a valid signature is recognised, so signatures of other runs or other signers are
 * left alone.
 */

import { createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import { placeholderOf } from '../../core/names/secret_name.ts'
import { buildSharedAccessText, readSharedAccess } from '../../outbound/signing/azure_access.ts'
import { storageKeyOf, storageMac } from '../../outbound/signing/azure_resign.ts'
import { type AzureScheme, buildSharedKeyText, isTable } from '../../outbound/signing/azure_text.ts'
import { objectIn } from '../../outbound/signing/google_assertion.ts'
import type { Inbound } from '../backend.ts'

/** A stand-in that may be a signing key. */
type KeyStandIn = { name: string; text: string }
type Account = { name: string; email: string; key: KeyObject }
type StorageKey = { name: string; key: Uint8Array }

const TOKEN = /^(eyJ[\w-]+\.(eyJ[\w-]+))\.([\w-]+)$/
const MAX_TOKEN = 16_384
const AUTHORIZATION = /^(SharedKey|SharedKeyLite) ([a-z0-9][a-z0-9-]{1,62}):([A-Za-z0-9+/]{43}=)$/
const BEARER = /^(bearer +)(\S+)$/i
const STORAGE_KEY = /^[A-Za-z0-9+/]{42,}={0,2}$/

type Sent = Pick<Inbound, 'pathAndQuery'> & { headers: Headers }
type Signing = Sent & { authority: string; method: string }

/** The signing keys among the stand-ins of a run. */
export class Signers {
  readonly #accounts: readonly Account[]
  readonly #keys: readonly StorageKey[]

  constructor(standIns: readonly KeyStandIn[]) {
    this.#accounts = standIns.flatMap(accountIn)
    this.#keys = standIns.flatMap(storageKeyIn)
  }

  get haveAccounts(): boolean {
    return this.#accounts.length > 0
  }

  /** Returns replacements for the header, or for `sig` in the query. */
  replaceSigned({ authority, request: { method } }: Inbound, sent: Sent) {
    const given = sent.headers.get('authorization')
    const request = { ...sent, authority, method }
    if (given === null) return { authorization: null, query: this.#replaceInQuery(request) }
    return {
      authorization: this.#replaceInBearer(given) ?? this.#replaceInHeader(given, request),
      query: null,
    }
  }

  replaceInForm(text: string): string {
    const form = new URLSearchParams(text)
    const given = form.getAll('assertion')
    const named = given.map((token) => this.#token(token))
    if (named.every((token, at) => token === given[at])) return text
    form.delete('assertion')
    for (const token of named) form.append('assertion', token)
    return form.toString()
  }

  /** `HEADER.CLAIMS.SVC_SECRET_NAME` for a token that our account signed. */
  #replaceInBearer(value: string): string | null {
    const [, scheme = '', token = ''] = BEARER.exec(value) ?? []
    const named = this.#token(token)
    return named === token ? null : scheme + named
  }

  /** `SharedKey ACCOUNT:SVC_SECRET_NAME` */
  #replaceInHeader(value: string, sent: Signing): string | null {
    const [, scheme = '', account = '', signature = ''] = AUTHORIZATION.exec(value) ?? []
    if (scheme === '' || this.#keys.length === 0) return null
    const request = requestOf(sent)
    const length = Number(sent.headers.get('content-length') ?? 0)
    const whole = { ...request, length, isTable: isTable(request) }
    const name = this.#nameOf(buildSharedKeyText(scheme as AzureScheme, account, whole), signature)
    return name === null ? null : `${scheme} ${account}:${placeholderOf(name)}`
  }

  #replaceInQuery(sent: Signing): string | null {
    if (this.#keys.length === 0 || !sent.pathAndQuery.includes('sig=')) return null
    const request = requestOf(sent)
    const signature = readSharedAccess(request.search)?.get('sig')
    if (signature === undefined) return null
    for (const account of accountsIn(request)) {
      const text = buildSharedAccessText(account, request)
      const name = text === null ? null : this.#nameOf(text, signature)
      if (name !== null) return `SharedKey%20${account}:${placeholderOf(name)}`
    }
    return null
  }

  #token(token: string): string {
    const [, signed = '', claims = '', signature = ''] = TOKEN.exec(token) ?? []
    if (signed === '' || !this.haveAccounts || token.length > MAX_TOKEN) return token
    const issuer = objectIn(claims)?.iss
    const account = this.#accounts.find(({ email }) => email === issuer)
    const made = Buffer.from(signature, 'base64url')
    const isOurs = account && verify('sha256', Buffer.from(signed), account.key, made)
    return isOurs ? `${signed}.${placeholderOf(account.name)}` : token
  }

  #nameOf(text: string, signature: string): string | null {
    const given = Buffer.from(signature, 'base64')
    const found = this.#keys.find(({ key }) => {
      const made = storageMac(key, text)
      return made.length === given.length && timingSafeEqual(made, given)
    })
    return found?.name ?? null
  }
}

function requestOf({ authority, method, headers, pathAndQuery }: Signing) {
  const search = pathAndQuery.replace(/^[^?]*/, '')
  const path = pathAndQuery.slice(0, pathAndQuery.length - search.length)
  return { authority, method, path, search, headers: [...headers] }
}

/** The account of the host, or the first segment of the path. */
function accountsIn({ authority, path }: ReturnType<typeof requestOf>): string[] {
  const host = authority.split('.', 1)[0] ?? ''
  const all = [host, host.replace(/-secondary$/, ''), path.split('/')[1] ?? '']
  return all.filter((name, at) => /^[a-z0-9-]+$/.test(name) && all.indexOf(name) === at)
}

function accountIn({ name, text }: KeyStandIn): Account[] {
  try {
    const { type, client_email: email, private_key: pem } = JSON.parse(text)
    return type === 'service_account' ? [{ name, email, key: createPublicKey(pem) }] : []
  } catch {
    return []
  }
}

function storageKeyIn({ name, text }: KeyStandIn): StorageKey[] {
  const key = STORAGE_KEY.test(text) ? storageKeyOf(Buffer.from(text)) : null
  return key ? [{ name, key }] : []
}
