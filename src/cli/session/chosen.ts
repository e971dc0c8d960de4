/** The workspace of a command: by ID, by a known name, or the default. */

import type { KnownNames, NameList } from '../../client/known_names.ts'
import { type Chains, UntrustedChain } from '../../client/signed/chain.ts'
import { isFounder } from '../../client/signed/founder.ts'
import { isJoined } from '../../client/workspaces.ts'
import { type Identity, isSignedId } from '../../sigchain/index.ts'
import { CliError } from '../terminal/cli_error.ts'
import { demandKnown, requireKnown } from '../trust/known_names.ts'

type Entry = { id: string; name: string; type: string; role: string; status: string }
type Person = {
  email: string
  knownNames: KnownNames
  chains: Chains
  identity(): Promise<Identity>
}

export function namesOfWorkspaces({ email }: { email: string }): NameList {
  return `workspaces of ${email.toLowerCase()}`
}

/** @throws CliError, UntrustedChain */
export async function choose<T extends Entry>(
  person: Person,
  all: readonly T[],
  named: string | undefined,
): Promise<T> {
  const active = all.filter(isJoined)
  if (named === undefined) return requireUnchangedDefault(person, active)
  const isNamed = ({ id, name }: Entry) => id === named || name === named
  const invited = active.some(isNamed) ? undefined : all.find(isNamed)
  if (invited?.status === 'invited') {
    const hint = `accept it with: cloakroom workspace accept ${invited.name}`
    throw new CliError(
      'not_found',
      `you are invited to ${invited.name} but have not accepted`,
      hint,
    )
  }
  const kind = { what: 'workspace', list: 'workspace list' }
  return requireKnown(person.knownNames, namesOfWorkspaces(person), active, named, kind)
}

/** The previous default workspace: only the server claims that another is now the personal or only one. */
async function requireUnchangedDefault<T extends Entry>(
  person: Person,
  active: readonly T[],
): Promise<T> {
  const list = toDefaultList(person)
  const { knownNames } = person
  const [kept] = knownNames.idsOf(list, '')
  const found = active.find(({ id }) => id === kept) ?? findObvious(active)
  if (!found) {
    const hint = 'choose one with -w, or: cloakroom workspace use <workspace>'
    throw new CliError('not_found', 'no workspace is chosen', hint)
  }
  const meant = { id: found.id, name: '' }
  if (kept === undefined) {
    if (isPersonal(found) && isSignedId(found.id)) await demandOwn(person, found)
    knownNames.learn(list, [meant])
  }
  demandKnown(knownNames, list, meant, 'the default workspace')
  return found
}

export function toDefaultList({ email }: { email: string }): NameList {
  return `default workspaces of ${email.toLowerCase()}`
}

export function findObvious<T extends Entry>(active: readonly T[]): T | undefined {
  const [found, another] = active.filter((entry) => isPersonal(entry) || active.length === 1)
  return another ? undefined : found
}

/** Others may have made one guest in theirs. */
function isPersonal({ type, role }: Entry): boolean {
  return type === 'personal' && role === 'owner'
}

async function demandOwn({ chains, identity }: Person, workspace: Entry): Promise<void> {
  const [links, { signing_key }] = await Promise.all([chains.history(workspace), identity()])
  if (isFounder(links, signing_key)) return
  throw new UntrustedChain(workspace, 'it is not your personal workspace: someone else created it')
}
