/** The allowlist of a signed workspace: what changes it, and who signed each of its entries. */
import { parseDomain } from '../../core/net/domain.ts'
import type { Chain, Link } from '../../sigchain/index.ts'
import type { Chains } from './chain.ts'
import type { Named } from './chain_notices.ts'
import type { Said } from './sign_change.ts'

type Change = { add?: readonly string[]; remove?: readonly string[] }

/** What is to be signed with the chain as it is; null where it is so already. */
export function allowlistChange(
  { allowlist }: Pick<Chain, 'allowlist'>,
  { add = [], remove = [] }: Change,
): Said | null {
  const body = {
    add: canonical(add).filter((domain) => !allowlist.has(domain)),
    remove: canonical(remove).filter((domain) => allowlist.has(domain)),
  }
  return body.add.length + body.remove.length === 0 ? null : { type: 'allowlist.changed', body }
}

/** As they are stored, each once; what is none is for the server to refuse. */
function canonical(domains: readonly string[]): string[] {
  return [...new Set(domains.flatMap((domain) => parseDomain(domain)?.text ?? []))]
}

/** What is allowed as it was signed, and what the server's rows, read by `list`, say otherwise. @throws UntrustedChain */
export async function signedAllowlist(
  chains: Chains,
  workspace: Named,
  list: () => Promise<readonly { domain: string }[]>,
) {
  const { allowlist: before } = await chains.of(workspace)
  const rows = await list()
  const allowed = whoAllowed(await chains.history(workspace))
  const entries = [...allowed].map(([domain, signed]) => ({ domain, ...signed }))
  return { entries, ...misstated(before, allowed, rows) }
}

type Signed = { seq: number; at: string; by: string }

/** With which link each domain was allowed last, from the links of a verified chain. */
function whoAllowed(links: readonly Link[]): Map<string, Signed> {
  const emails = new Map(links.flatMap(peopleOf).map(({ user_id, email }) => [user_id, email]))
  const allowed = new Map<string, Signed>()
  for (const { type, body, seq, at, signer } of links) {
    if (type !== 'allowlist.changed') continue
    for (const domain of body.remove) allowed.delete(domain)
    for (const domain of body.add)
      allowed.set(domain, { seq, at, by: emails.get(signer) ?? signer })
  }
  return allowed
}

/**
 * What a server lists that nobody signed, which lets no call through, and what it leaves out, which still does. What
 * somebody changed while it was read is neither: `before` is the list as it was signed then.
 */
function misstated(
  before: ReadonlySet<string>,
  allowed: ReadonlyMap<string, Signed>,
  rows: readonly { domain: string }[],
) {
  const listed = new Set(rows.map(({ domain }) => domain))
  return {
    unsigned: [...listed].filter((domain) => !before.has(domain) && !allowed.has(domain)),
    leftOut: [...before].filter((domain) => allowed.has(domain) && !listed.has(domain)),
  }
}

function peopleOf({ type, body }: Link): readonly { user_id: string; email: string }[] {
  if (type === 'workspace.created') return [body.founder]
  return type === 'members.put' ? body.members : []
}
