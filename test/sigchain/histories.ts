/**
 * Random histories of workspaces, with an independent decision on what each member may sign: the rules are written
 * here a second time, as a table and over copies of whole states, to compare.
 */
import fc from 'fast-check'
import {
  emptyChain,
  extend,
  type Identity,
  identityOf,
  type LinkChange,
  type SignedText,
  signLink,
} from '../../src/sigchain/index.ts'

export type Role = 'owner' | 'admin' | 'member' | 'read_only'
type Somebody = { role: Role; keys: number }

/** The state of a workspace after a link: people by number, with their role and the number of their key changes. */
export type Model = {
  members: ReadonlyMap<number, Somebody>
  allowlist: ReadonlySet<string>
  revoked: ReadonlySet<string>
  epoch: number
  isDeleted: boolean
}

export type History = {
  workspaceId: string
  links: SignedText[]
  /** The state after each link. */
  models: Model[]
  /** Links that were tried in between and must be rejected, with the number of links before them. */
  wrong: { after: number; link: SignedText }[]
}

const ROLES: readonly Role[] = ['owner', 'admin', 'member', 'read_only']
const DOMAINS = ['api.example.com', '*.example.com:8443', 'xn--bcher-kva.example', 'host']
const TOKENS = ['0', '1', '2'].map((last) => `01920000-0000-8000-8000-00000000040${last}`)
const AT = '2026-11-22T00:00:00.000Z'
const COMMITMENT = new Uint8Array(32).fill(9).toBase64()

export const userId = (person: number) => `01920000-0000-7000-8000-00000000001${person}`
const emailOf = (person: number) => `person${person}@example.com`

const identities = new Map<string, Promise<Identity>>()

/** A person's keys, the first ones and those after each rotation. */
export function keysOf(person: number, version: number): Promise<Identity> {
  const name = `${person}.${version}`
  const made =
    identities.get(name) ?? identityOf(new Uint8Array(32).fill(version + 1).with(0, person))
  identities.set(name, made)
  return made
}

type Step = { kind: Kind; signer: number; some: number[]; others: number[]; roles: Role[] }
type Said = Omit<LinkChange, 'at' | 'signer'>
type Attempt = {
  said: Said
  may: boolean
  /** The state after it, if the signer may. */
  next: Partial<Model>
}
type Tried = Step & { model: Model; me: Somebody; members: Map<number, Somebody> }

const isAdmin = ({ role }: Somebody) => role === 'owner' || role === 'admin'
const isBelow = (role: Role) => role === 'member' || role === 'read_only'
const isDistinct = (list: readonly string[]) => new Set(list).size === list.length
const hasOwner = (members: ReadonlyMap<number, Somebody>) =>
  [...members.values()].some(({ role }) => role === 'owner')

/** Attempts, with the members, domains or tokens that the numbers represent. */
const attempts = {
  async put({ some, roles, me, model, members }: Tried): Promise<Attempt> {
    let may = true
    const put = some.map(async (person, at) => {
      const [was, role = 'member'] = [model.members.get(person), roles[at]]
      const staysAdmin = was?.role === 'admin' && role === 'admin'
      const isBelowAdmins = role !== 'owner' && (was === undefined || isBelow(was.role))
      if (me.role !== 'owner') may &&= me.role === 'admin' && (staysAdmin || isBelowAdmins)
      members.set(person, { role, keys: was?.keys ?? 0 })
      return { ...(await personOf(person, was?.keys ?? 0)), role }
    })
    const body = { members: await Promise.all(put) }
    return { said: { type: 'members.put', body }, may: may && hasOwner(members), next: { members } }
  },

  remove({ some, signer, me, model, members }: Tried): Attempt {
    const may = some.every((person) => {
      const role = model.members.get(person)?.role
      if (role === undefined) return false
      return person === signer || me.role === 'owner' || (me.role === 'admin' && isBelow(role))
    })
    for (const person of some) members.delete(person)
    const said = { type: 'members.removed', body: { user_ids: some.map(userId) } } as const
    return { said, may: may && hasOwner(members), next: { members } }
  },

  async rotate({ signer, me, members }: Tried): Promise<Attempt> {
    members.set(signer, { ...me, keys: me.keys + 1 })
    const { signing_key, public_key } = await keysOf(signer, me.keys + 1)
    const body = { signing_key, public_key }
    return { said: { type: 'keys.rotated', body }, may: true, next: { members } }
  },

  epoch({ me, model, others }: Tried): Attempt {
    const epoch = model.epoch + (others.length === 3 ? 2 : 1)
    const may = isAdmin(me) && epoch === model.epoch + 1
    const said = { type: 'epoch.advanced', body: { epoch, key_commitment: COMMITMENT } } as const
    return { said, may, next: { epoch } }
  },

  allow({ me, model, some, others }: Tried): Attempt {
    const [add, remove] = [some.map(domainOf), others.map(domainOf)]
    const isApt =
      isDistinct([...add, ...remove]) &&
      add.every((domain) => !model.allowlist.has(domain)) &&
      remove.every((domain) => model.allowlist.has(domain))
    const allowlist = new Set([...model.allowlist, ...add])
    for (const domain of remove) allowlist.delete(domain)
    const said = { type: 'allowlist.changed', body: { add, remove } } as const
    return { said, may: isAdmin(me) && isApt, next: { allowlist } }
  },

  revoke({ me, model, some }: Tried): Attempt {
    const tokens = some.map(tokenOf)
    const isApt = isDistinct(tokens) && tokens.every((token) => !model.revoked.has(token))
    const said = { type: 'tokens.revoked', body: { token_ids: tokens } } as const
    const revoked = new Set([...model.revoked, ...tokens])
    return { said, may: isAdmin(me) && isApt, next: { revoked } }
  },

  delete({ me }: Tried): Attempt {
    const said = { type: 'workspace.deleted', body: {} } as const
    return { said, may: me.role === 'owner', next: { isDeleted: true } }
  },
}
type Kind = keyof typeof attempts

/** How often each is tried. */
const WEIGHTS: Record<Kind, number> = {
  put: 18,
  remove: 8,
  rotate: 6,
  epoch: 6,
  allow: 8,
  revoke: 6,
  delete: 1,
}
const kinds = Object.keys(attempts) as Kind[]
const numbers = (minLength: number) =>
  fc.uniqueArray(fc.nat({ max: 4 }), { minLength, maxLength: 3 })
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(...kinds.map((kind) => ({ weight: WEIGHTS[kind], arbitrary: fc.constant(kind) }))),
  signer: fc.nat({ max: 1000 }),
  some: numbers(1),
  others: numbers(0),
  roles: fc.array(fc.constantFrom(...ROLES), { minLength: 3, maxLength: 3 }),
})

/** Random steps; person 0 founds the workspace. */
export const steps = fc.array(step, { minLength: 4, maxLength: 24 })

const domainOf = (number: number) => DOMAINS[number % DOMAINS.length] ?? ''
const tokenOf = (number: number) => TOKENS[number % TOKENS.length] ?? ''

export async function personOf(person: number, version: number) {
  const { signing_key, public_key } = await keysOf(person, version)
  return { user_id: userId(person), email: emailOf(person), signing_key, public_key }
}

/** Accepts valid links, one after the other, and remembers invalid ones. */
export async function historyOf(workspaceId: string, tried: readonly Step[]): Promise<History> {
  const founder = await personOf(0, 0)
  const body = { founder, epoch: 1, key_commitment: COMMITMENT } as const
  let model: Model = {
    members: new Map([[0, { role: 'owner', keys: 0 }]]),
    allowlist: new Set(),
    revoked: new Set(),
    epoch: 1,
    isDeleted: false,
  }
  const { signingKey } = await keysOf(0, 0)
  let chain = emptyChain(workspaceId)
  const creation = { type: 'workspace.created', body, at: AT, signer: userId(0) } as const
  const history: History = { workspaceId, models: [model], wrong: [], links: [] }
  history.links.push(await signLink(chain, creation, signingKey))
  chain = await extend(chain, history.links)
  for (const step of tried) {
    if (model.isDeleted) break
    const people = [...model.members.keys()]
    const signer = people[step.signer % people.length] ?? 0
    const me = model.members.get(signer) ?? { role: 'owner', keys: 0 }
    const members = new Map(model.members)
    const { said, may, next } = await attempts[step.kind]({ ...step, signer, me, model, members })
    const change = { ...said, at: AT, signer: userId(signer) } as LinkChange
    const link = await signLink(chain, change, (await keysOf(signer, me.keys)).signingKey)
    if (!may) {
      history.wrong.push({ after: history.links.length, link })
      continue
    }
    model = { ...model, ...next }
    chain = await extend(chain, [link])
    history.links.push(link)
    history.models.push(model)
  }
  return history
}
