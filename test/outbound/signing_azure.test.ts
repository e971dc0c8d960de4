// tier: quick
/**
 * Requests and addresses that a client signed for Azure storage, signed again: compared with the vendor's own
 * signers.
 */
import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/core/fault.ts'
import { Secret } from '../../src/core/secret.ts'
import { azureSignature } from '../../src/outbound/signing/azure_resign.ts'
import { buildSharedKeyText } from '../../src/outbound/signing/azure_text.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import vectors from '../vectors/azure_storage.json'

const NAMED = 'SharedKey acct:SVC_SECRET_KEY'
const valuesOf = (key: string) => new Map([['KEY', new Secret(Buffer.from(key))]])

type Given = { method?: string; url: string; headers?: Record<string, string>; body?: string }

/** In the sent form. */
function again({ method = 'GET', url, headers = {}, body = '' }: Given, key = vectors.key) {
  const target = parseTarget(url)
  const bytes = body === '' ? null : { bytes: Buffer.from(body) }
  const call = {
    targetUrl: url,
    method,
    headers,
    body: bytes,
    answer: 'whole' as const,
    signing: null,
    linkBase: null,
  }
  const signature = azureSignature(call, target)
  if (!signature) return null
  const { authority, path, search } = target
  const request = { method, authority, path, search, headers: Object.entries(headers), body: bytes }
  const signed = signature.sign(request, valuesOf(key))
  return { ...signed, uses: signature.uses, headers: Object.fromEntries(signed.headers) }
}

const codeOf = (given: Given, key?: string) => {
  try {
    return again(given, key) === null ? 'left alone' : 'signed'
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}

describe('a request', () => {
  test.each(vectors.requests.map((one) => [one.method, one.url, one] as const))(
    "%s %s has the SDK's signature with the real key",
    (_method, _url, { authorization, headers, ...request }) => {
      const scheme = authorization.split(':')[0]
      const named = { ...headers, authorization: `${scheme}:SVC_SECRET_KEY` } as Record<
        string,
        string
      >
      const made = again({ ...request, headers: named })
      expect(made?.headers).toEqual({ ...named, authorization })
      expect(made?.uses).toMatchObject([{ name: 'KEY', isForeign: false }])
    },
  )

  test('a request with SharedKeyLite is signed over the text of the documentation', () => {
    const headers: [string, string][] = [
      ['x-ms-date', 'Sun, 20 Sep 2009 20:36:40 GMT'],
      ['x-ms-meta-m1', 'v1'],
      ['X-Ms-Meta-M2', 'v2'],
      ['Content-Type', 'text/plain; charset=UTF-8'],
    ]
    const request = { method: 'PUT', path: '/mycontainer/hello.txt', search: '', headers }
    const text = buildSharedKeyText('SharedKeyLite', 'testaccount1', {
      ...request,
      length: 11,
      isTable: false,
    })
    expect(text).toBe(
      'PUT\n\ntext/plain; charset=UTF-8\n\nx-ms-date:Sun, 20 Sep 2009 20:36:40 GMT\nx-ms-meta-m1:v1\nx-ms-meta-m2:v2\n/testaccount1/mycontainer/hello.txt',
    )
  })

  test('a request with only Date signs it, and sorts values of one parameter', () => {
    const request = {
      method: 'GET',
      path: '/c',
      headers: [['Date', 'today']] as [string, string][],
    }
    const rest = { length: 0, isTable: false }
    const search = '?B=2&a=%2C&b=1'
    expect(buildSharedKeyText('SharedKey', 'acct', { ...request, ...rest, search })).toBe(
      'GET\n\n\n\n\n\ntoday\n\n\n\n\n\n/acct/c\na:,\nb:1,2',
    )
  })
})

describe('a header that names the key in another form', () => {
  const of = (authorization: string) =>
    codeOf({ url: 'https://acct.blob.core.windows.net/c', headers: { authorization } })

  test.each([
    'sharedkey acct:SVC_SECRET_KEY',
    'SHAREDKEY acct:SVC_SECRET_KEY',
    'SharedKey  acct:SVC_SECRET_KEY',
    'SharedKey\tacct:SVC_SECRET_KEY',
    ' SharedKey acct:SVC_SECRET_KEY',
    'SharedKey :SVC_SECRET_KEY',
    'SharedKey SVC_SECRET_KEY',
    'SharedKey a.b:SVC_SECRET_KEY',
    'SharedKey Acct:SVC_SECRET_KEY',
    'SharedKeyX acct:SVC_SECRET_KEY',
    'SharedKey acct:SVC_SECRET_KEY ',
    'SharedKey acct:xSVC_SECRET_KEY',
  ])('%p is rejected, so the key itself is not sent', (authorization) => {
    expect(of(authorization)).toBe('invalid_header')
  })

  test('a header without a placeholder, or in another scheme, is left unchanged', () => {
    for (const scheme of ['SharedKey', 'SharedKeyLite']) {
      expect(of(`${scheme} acct:SVC_SECRET_KEY`)).toBe('signed')
    }
    expect(of('sharedkey acct:c2lnbmF0dXJl')).toBe('left alone')
    expect(of('Bearer SVC_SECRET_KEY')).toBe('left alone')
  })
})

describe('a shared access signature', () => {
  test.each(vectors.addresses)("%s equals the SDK's signature with the real key", (address) => {
    const [, wanted = ''] = /[?&]sig=([^&]*)/.exec(address) ?? []
    const url = address.replace(/([?&]sig=)[^&]*/, `$1${NAMED.replace(' ', '%20')}`)
    const made = again({ url })
    const [, sig = ''] = /[?&]sig=([^&]*)/.exec(made?.search ?? '') ?? []
    expect(decodeURIComponent(sig)).toBe(decodeURIComponent(wanted))
    expect(made?.search.replace(sig, '')).toBe(new URL(address).search.replace(wanted, ''))
  })

  const signed = (query: string) =>
    codeOf({
      url: `https://acct.blob.core.windows.net/c/b?${query}&sig=${encodeURIComponent(NAMED)}`,
    })

  test('a shared access signature is rejected if its parameters do not define its text', () => {
    expect(signed('sv=2020-12-06&sr=b&sp=r&se=2027-01-01')).toBe('signed')
    for (const query of [
      'sv=2014-02-14&sr=b&sp=r&se=2027-01-01',
      'sr=b&sp=r&se=2027-01-01',
      'sv=2020-12-06&sr=z&sp=r&se=2027-01-01',
      'sv=2020-12-06&sr=d&sp=r&se=2027-01-01',
      'sv=2020-12-06&sr=b&skoid=x&sp=r&se=2027-01-01',
    ]) {
      expect(signed(query)).toBe('invalid_target')
    }
  })

  test('a shared access signature without a resource is rejected on a blob host, and made on a queue host', () => {
    const at = (service: string, query: string) =>
      codeOf({
        url: `https://acct.${service}.core.windows.net/c?${query}&sig=${encodeURIComponent(NAMED)}`,
      })
    const common = 'sv=2020-12-06&sp=r&se=2027-01-01'
    expect(at('queue', common)).toBe('signed')
    expect(at('table', `${common}&tn=t`)).toBe('signed')
    for (const service of ['blob', 'dfs', 'file', 'table']) {
      expect(at(service, common)).toBe('invalid_target')
    }
  })

  test('a line break in a field or in the path is rejected', () => {
    const at = (path: string, query: string) =>
      codeOf({
        url: `https://acct.blob.core.windows.net${path}?sv=2020-12-06&sr=b&${query}&sig=${encodeURIComponent(NAMED)}`,
      })
    expect(at('/c/a%20b', 'sp=r&se=2027-01-01&rscd=a%20b')).toBe('signed')
    expect(at('/c/b', 'sp=r%0A&se=2027-01-01')).toBe('invalid_target')
    expect(at('/c/b', 'sp=r&se=2027-01-01&rscd=a%00')).toBe('invalid_target')
    expect(at('/c/b%0A', 'sp=r&se=2027-01-01')).toBe('invalid_target')
  })

  test.each([
    'sharedkey acct',
    'SharedKey  acct',
    'SharedKey+acct',
    'SharedKey ',
    'SharedKeyLite acct',
  ])('a key named as %p is rejected, so the key itself is not sent', (written) => {
    const sig = encodeURIComponent(`${written}:SVC_SECRET_KEY`)
    const url = `https://acct.blob.core.windows.net/c/b?sv=2020-12-06&sr=b&sp=r&se=2027-01-01`
    for (const name of ['sig', 'SIG', '%73ig']) {
      expect(codeOf({ url: `${url}&${name}=${sig}` })).toBe('invalid_target')
    }
  })

  test('a shared access signature that occurs twice, or is invalid, is left unchanged', () => {
    expect(signed('sv=2020-12-06&sr=b&sp=r&sp=w')).toBe('left alone')
    const url = 'https://acct.blob.core.windows.net/c/b?sv=2020-12-06&sr=b&sig=SVC_SECRET_KEY'
    expect(codeOf({ url })).toBe('left alone')
  })
})

describe('the account of a signature', () => {
  const isForeign = (host: string, account = 'acct') =>
    again({
      url: `https://${host}/c`,
      headers: { authorization: `SharedKey ${account}:SVC_SECRET_KEY`, 'x-ms-date': 'x' },
    })?.uses[0]?.isForeign

  test('a host of another account is detected', () => {
    for (const host of [
      'acct.blob.core.windows.net',
      'acct-secondary.table.core.windows.net',
      'acct.z1.blob.storage.azure.net',
      'acct.table.cosmos.azure.com',
      'acct.queue.core.usgovcloudapi.net',
    ]) {
      expect(isForeign(host)).toBe(false)
    }
    for (const host of [
      'other.blob.core.windows.net',
      'acctx.blob.core.windows.net',
      'acct.example.com',
      'acct.blob.core.windows.net.example.com',
      'acct.blobcore.windows.net.evil.example',
    ]) {
      expect(isForeign(host)).toBe(true)
    }
  })

  test('a foreign signature is left unchanged, and an invalid key is rejected', () => {
    const url = 'https://acct.blob.core.windows.net/c'
    const headersOf = (authorization: string) => ({ authorization, 'x-ms-date': 'x' })
    expect(codeOf({ url, headers: headersOf(`SharedKey acct:${'a'.repeat(43)}=`) })).toBe(
      'left alone',
    )
    expect(codeOf({ url, headers: headersOf('Bearer SVC_SECRET_KEY') })).toBe('left alone')
    expect(codeOf({ url, headers: headersOf(NAMED) }, 'no base64!')).toBe('unusable_secret')
    expect(codeOf({ url, headers: headersOf(NAMED) })).toBe('signed')
  })
})
