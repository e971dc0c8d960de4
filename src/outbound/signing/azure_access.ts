/**
 * The text of shared access signatures of Azure storage: "Create an account SAS" and "Create a service SAS",
 * Microsoft Learn. Those of a user delegation key are made with another key.
 */

import type { Signable } from '../../core/signing/signable.ts'
import { decodePercent, isHostOf, parametersIn } from './azure_text.ts'

/** Returns the decoded parameters; `null` for a query that repeats one. */
export function readSharedAccess(search: string): ReadonlyMap<string, string> | null {
  const all = parametersIn(search)
  const access = new Map(all.map(([name, value]) => [name, decodePercent(value)]))
  return access.size === all.length ? access : null
}

const FIRST = '2015-04-05'
const WITH_RESOURCE = '2018-11-09'
const WITH_SCOPE = '2020-12-06'
const OVERRIDES = ['rscc', 'rscd', 'rsce', 'rscl', 'rsct']
const PARTITION = ['spk', 'srk', 'epk', 'erk']
/** Hosts of services whose parameters must name the kind of resource. Without that kind, it is a queue. */
const NO_QUEUE = /\.(blob|dfs|file|table)\./
const OF_BLOBS = ['b', 'bs', 'bv', 'c', 'd']

/** Returns the text to sign; `null` if the parameters do not determine it. */
export function buildSharedAccessText(
  account: string,
  { authority, path, search }: Pick<Signable, 'authority' | 'path' | 'search'>,
): string | null {
  const access = readSharedAccess(search)
  // A line break in a field, or in the path, would be the end of that field.
  if (!access || [...access.values(), decodePercent(path)].some((text) => /\p{Cc}/u.test(text)))
    return null
  const version = access.get('sv') ?? ''
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version) || version < FIRST || access.has('skoid')) return null
  const of = (names: readonly string[]) => names.map((name) => access.get(name) ?? '')
  if (access.has('ss')) {
    const scope = version >= WITH_SCOPE ? ['ses'] : []
    const fields = of(['sp', 'ss', 'srt', 'st', 'se', 'sip', 'spr', 'sv', ...scope])
    return [account, ...fields, ''].join('\n')
  }
  const own = isHostOf(account, authority) ? path : path.replace(`/${account}/`, '/')
  const resource = resourceOf(account, access, { authority, path: own })
  if (resource === null) return null
  const common = [...of(['sp', 'st', 'se']), resource, ...of(['si', 'sip', 'spr', 'sv'])]
  return [...common, ...ofService(access, version, of)].join('\n')
}

function ofService(
  access: ReadonlyMap<string, string>,
  version: string,
  of: (names: readonly string[]) => string[],
): string[] {
  const kind = access.get('sr')
  if (access.has('tn')) return of(PARTITION)
  if (kind === undefined) return []
  if (!OF_BLOBS.includes(kind) || version < WITH_RESOURCE) return of(OVERRIDES)
  const time = kind === 'bs' ? of(['snapshot']) : kind === 'bv' ? of(['versionid']) : ['']
  return [kind, ...time, ...of(version >= WITH_SCOPE ? ['ses', ...OVERRIDES] : OVERRIDES)]
}

function resourceOf(
  account: string,
  access: ReadonlyMap<string, string>,
  { authority, path }: Pick<Signable, 'authority' | 'path'>,
): string | null {
  const table = access.get('tn')
  if (table !== undefined) return `/table/${account}/${table.toLowerCase()}`
  const segments = path.split('/').slice(1).map(decodePercent)
  const takeFirst = (count: number) => ['', account, ...segments.slice(0, count)].join('/')
  const kind = access.get('sr')
  if (kind === undefined) return NO_QUEUE.test(authority) ? null : `/queue${takeFirst(1)}`
  if (kind === 's') return `/file${takeFirst(1)}`
  if (kind === 'f') return `/file${takeFirst(segments.length)}`
  if (kind === 'c') return `/blob${takeFirst(1)}`
  if (kind === 'd') {
    const depth = Number(access.get('sdd'))
    return depth > 0 ? `/blob${takeFirst(1 + depth)}` : null
  }
  return OF_BLOBS.includes(kind) ? `/blob${takeFirst(segments.length)}` : null
}
