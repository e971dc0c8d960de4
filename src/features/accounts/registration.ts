/**
 * Creates accounts. The first one owns the instance; registrations are serialised to decide which is first. The
 * personal workspace needs an envelope that only its owner can decrypt.
 */
import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../core/crypto/primitives.ts'
import { Fault } from '../../core/fault.ts'
import type { Database, Transaction } from '../../database/open.ts'
import type { users } from '../../database/schema/index.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { UnboundAudit } from '../../http/recorder.ts'
import type { OpenTransaction } from '../../http/route.ts'
import { createWorkspace, type WorkspaceOfPerson } from '../workspaces/index.ts'
import type { AccountServices } from './account_services.ts'
import type { register } from './contract.ts'
import { passwordValues, recoveryValues } from './credentials.ts'
import { identityValues } from './identity.ts'
import {
  findUserByEmail,
  hasUsers,
  insertUser,
  queueRegistrations,
  showUser,
  type User,
} from './queries.ts'

type Registration = InputOf<typeof register, 'body'>

/** @throws Fault `registration_closed`, `already_exists` (the address, its user's id or the workspace's), `link_required`, `link_refused` */
export async function registerPerson(
  services: AccountServices,
  transaction: OpenTransaction,
  body: Registration,
) {
  const { db, outer, registration } = services
  await checkOpen(db, registration)
  const identity = await identityValues(body)
  const values = await userValues(services, body)
  return transaction(async (tx, audit) => {
    await queueRegistrations(tx)
    await checkOpen(tx, registration)
    const isInstanceOwner = !(await hasUsers(tx))
    if (isInstanceOwner) checkOwner(services, body.owner_code)
    const user = await insertUser(tx, { ...values, ...identity, isInstanceOwner })
    if (!user) throw await buildTakenFault(tx, body.email)
    if (!body.workspace) {
      audit.unchanged()
      return { user: showUser(user), workspace: null }
    }
    const workspace = await createPersonal(tx, outer, audit, user, body.workspace)
    return { user: showUser(user), workspace }
  })
}

async function buildTakenFault(tx: Transaction, email: string): Promise<Fault> {
  const what = (await findUserByEmail(tx, email))
    ? 'The email address already has an account.'
    : 'The user ID is already used.'
  return new Fault('already_exists', { message: what })
}

/** Checked twice: before the work of hashing, and in the transaction that decides. */
async function checkOpen(
  db: Database | Transaction,
  registration: AccountServices['registration'],
): Promise<void> {
  if (registration === 'open') return
  if (registration === 'first' && !(await hasUsers(db))) return
  throw new Fault('registration_closed', { fix: { setting: 'REGISTRATION' } })
}

/** Someone else may reach a new server before its operator. */
function checkOwner({ ownerCode }: AccountServices, presented = ''): void {
  if (ownerCode === undefined || timingSafeEqual(sha256(presented), sha256(ownerCode))) return
  throw new Fault('registration_closed', {
    message:
      'The first account owns this server and needs its OWNER_CODE. Set SERVICE_OWNER_CODE for cloakroom register.',
  })
}

async function userValues(
  services: AccountServices,
  body: Registration,
): Promise<typeof users.$inferInsert> {
  const { user_id: id = Bun.randomUUIDv7() } = body
  return {
    id,
    email: body.email,
    firstName: body.first_name,
    lastName: body.last_name,
    publicKey: Uint8Array.fromBase64(body.public_key),
    termsAgreedAt: body.terms_agreement ? new Date() : null,
    ...(await passwordValues(services, id, body)),
    ...(body.recovery ? await recoveryValues(services, id, body.recovery) : {}),
  }
}

async function createPersonal(
  tx: Transaction,
  outer: AccountServices['outer'],
  audit: UnboundAudit,
  user: User,
  { id, name, encrypted_workspace_key, link }: NonNullable<Registration['workspace']>,
): Promise<WorkspaceOfPerson> {
  const workspace = await createWorkspace(tx, outer, {
    id,
    name,
    type: 'personal',
    ownerId: user.id,
    encryptedWorkspaceKey: encrypted_workspace_key,
    link,
  })
  const actor = { workspaceId: workspace.id, userId: user.id, email: user.email }
  const resource = { type: 'workspace', id: workspace.id, name }
  audit.by(actor).record({ action: 'workspace.created', resource })
  return workspace
}
