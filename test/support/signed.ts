/** Signed workspaces and the people in them, with real keys, links and signatures. */
import { randomBytes } from 'node:crypto'
import { wrapKeys } from '../../src/client/account/account_keys.ts'
import { userKey } from '../../src/client/account/keys.ts'
import { type Bytes, toBase64 } from '../../src/core/crypto/encoding.ts'
import { keyCommitment } from '../../src/core/crypto/key_commitment.ts'
import type { Role } from '../../src/core/grant.ts'
import { register } from '../../src/features/accounts/contract.ts'
import {
  acceptInvitation,
  createWorkspaceEndpoint,
  inviteMembersEndpoint,
} from '../../src/features/workspaces/contract.ts'
import {
  type Chain,
  emptyChain,
  extend,
  type Identity,
  identityOf,
  type LinkChange,
  proveKeys,
  type SignedText,
  signLink,
} from '../../src/sigchain/index.ts'
import type { TestApp } from './app.ts'
import { envelopeFor, logInAs, newApplicant, type Person, registrationOf } from './people.ts'

export type SignedPerson = Person & { seed: Bytes; identity: Identity }

/** An ID that marks its object as signed. */
export function signedId(): string {
  const id = Bun.randomUUIDv7()
  return `${id.slice(0, 14)}8${id.slice(15)}`
}

/** A person before the server has them: keys, and the body that registers them. */
export async function signedApplicant(name?: string) {
  const seed = new Uint8Array(randomBytes(32))
  const identity = await identityOf(seed)
  const publicKey = new Uint8Array(Buffer.from(identity.public_key, 'base64'))
  const keys = { seed, privateKey: identity.privateKey, publicKey }
  const applicant = { ...newApplicant(name), ...keys, identity }
  const body = {
    ...(await registrationOf(applicant)),
    signing_key: identity.signing_key,
    key_proof: await proveKeys(identity, applicant.email),
    encrypted_private_key: await wrapKeys('account', userKey(applicant.masterKey), keys),
  }
  return { applicant, body }
}

/** Registers a person who can sign; the personal workspace is plain. */
export async function signedAccount(app: TestApp, name?: string): Promise<SignedPerson> {
  const { applicant, body } = await signedApplicant(name)
  const { user } = await app.as().call(register, { body })
  const tokens = await logInAs(app, applicant)
  return { ...applicant, ...tokens, userId: user.id, api: app.as(tokens.token) }
}

/** The signer, in the form that links use. */
type Signer = Pick<SignedPerson, 'userId' | 'email' | 'identity'>

export function personOf({ userId, email, identity }: Signer) {
  const { signing_key, public_key } = identity
  return { user_id: userId, email, signing_key, public_key }
}

export type Said = Pick<LinkChange, 'type' | 'body'>

export function signedBy(signer: Signer, chain: Chain, said: Said): Promise<SignedText> {
  const change = { ...said, at: new Date().toISOString(), signer: signer.userId } as LinkChange
  return signLink(chain, change, signer.identity.signingKey)
}

export function firstLink(
  founder: Signer,
  { workspaceId, workspaceKey }: { workspaceId: string; workspaceKey: Uint8Array },
): Promise<SignedText> {
  const key_commitment = keyCommitment(workspaceId, 1, workspaceKey)
  const body = { founder: personOf(founder), epoch: 1, key_commitment } as const
  return signedBy(founder, emptyChain(workspaceId), { type: 'workspace.created', body })
}

export type SignedWorkspace = {
  workspaceId: string
  workspaceKey: Uint8Array
  owner: SignedPerson
  /** The stored chain, verified. */
  chain(): Promise<Chain>
  /** The next link after the stored ones, by the owner by default. */
  link<Type extends LinkChange['type']>(
    type: Type,
    body: Extract<LinkChange, { type: Type }>['body'],
    signer?: SignedPerson,
  ): Promise<SignedText>
  /** Invites a person with a link, who has not answered yet. */
  invite(person: SignedPerson, role: Role): Promise<void>
  /** Registers a person who can sign and is a member immediately. */
  join(role: Role): Promise<SignedPerson>
}

export async function signedWorkspace(app: TestApp, owner: SignedPerson): Promise<SignedWorkspace> {
  const place = { workspaceId: signedId(), workspaceKey: new Uint8Array(randomBytes(32)) }
  const { workspaceId } = place
  const encrypted_workspace_key = await envelopeFor(owner, place)
  await owner.api.call(createWorkspaceEndpoint, {
    body: {
      id: workspaceId,
      name: 'Signed',
      encrypted_workspace_key,
      link: await firstLink(owner, place),
    },
  })
  let known = emptyChain(workspaceId)
  const chain = async () => {
    known = await extend(known, await storedLinks(app, workspaceId, known.seq))
    return known
  }
  const params = { workspace_id: workspaceId }
  const workspace: SignedWorkspace = {
    ...place,
    owner,
    chain,
    link: async (type, body, signer = owner) =>
      signedBy(signer, await chain(), { type, body } as Said),
    invite: async (person, role) => {
      const members = [{ ...personOf(person), role }]
      const link = await workspace.link('members.put', { members })
      const { email } = person
      const envelope = await envelopeFor(person, place)
      const body = { email, role, encrypted_workspace_key: envelope, link }
      await owner.api.call(inviteMembersEndpoint, { params, body })
    },
    join: async (role) => {
      const person = await signedAccount(app, role.replace('_', '-'))
      await workspace.invite(person, role)
      await person.api.call(acceptInvitation, { params })
      return person
    },
  }
  return workspace
}

/** In the form of the database. */
export async function storedLinks(
  app: TestApp,
  workspaceId: string,
  after = 0,
): Promise<SignedText[]> {
  const rows = await app.connection.sql<{ statement: string; signature: Uint8Array }[]>`
    select statement, signature from workspace_links
    where workspace_id = ${workspaceId} and seq > ${after} order by seq`
  return rows.map(({ statement, signature }) => ({ statement, signature: toBase64(signature) }))
}
