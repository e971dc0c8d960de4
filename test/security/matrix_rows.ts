/**
 * One row per endpoint: how to make a valid request, and its special callers. All other results follow from the
 * contract's access and the permission matrix.
 */

import { eq } from 'drizzle-orm'
import { memberships, passkeys, secrets } from '../../src/database/schema/index.ts'
import {
  issueWorkloadToken,
  provisionAgentToken,
  provisionWorkloadToken,
  registerAgent,
} from '../../src/features/agents/contract.ts'
import { addToAllowlist } from '../../src/features/allowlist/contract.ts'
import { createEnvironment, deleteProject } from '../../src/features/projects/contract.ts'
import { deleteSecret } from '../../src/features/secrets/contract.ts'
import { exampleOfForm } from '../../src/http/fields.ts'
import { forwardCalls } from '../../src/resolver/forwarding/contract.ts'
import { ofConsole } from '../support/console.ts'
import { logInAs, newApplicant, type Person, registrationOf } from '../support/people.ts'
import { approvalRows } from './matrix_approvals.ts'
import {
  addProject,
  addSecret,
  addTarget,
  type CallerName,
  ciphertext,
  copyWorkspace,
  envelope,
  unique,
  type World,
} from './matrix_world.ts'

export type Request = {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  /** A session other than the caller's usual one, if the request ends it. */
  token?: string
  headers?: Record<string, string>
}

/** `caller` is the person who will call, or the owner if that is no person. */
export type Scene = { world: World; caller: Person; name: CallerName }

export type Row = {
  request(scene: Scene): Promise<Request> | Request
  /** Statuses that mean that the caller was admitted; 200 and 201 by default. */
  through?: readonly number[]
  /** Callers whose answer does not follow from the contract. */
  expect?: Partial<Record<CallerName, number>>
  /** Slots (`query.project_id`) in which a foreign value requests nothing foreign, with the status and the reason. */
  slots?: Record<string, { status: number; because: string }>
}

const row = (request: Row['request'], rest: Omit<Row, 'request'> = {}): Row => ({
  request,
  ...rest,
})

/** The error tells a permitted signer that the workspace is plain. */
const NOT_SIGNED = [422]
const grantBody = {
  grant: { statement: '{}', signature: Buffer.alloc(64).toString('base64') },
}

const inWorkspace = ({ world }: Scene) => ({ workspace_id: world.workspaceId })
const inProject = ({ world }: Scene) => ({ project_id: world.projectId })
const ofSecret = ({ world }: Scene) => ({ project_id: world.projectId, key: world.secretKey })
const none = () => ({})
const stranger = () => `${unique('nobody-')}@people.example`
const newEmail = { status: 200, because: 'addresses of other tenants may be looked up' }
const filter = {
  status: 200,
  because: 'it filters what the caller may see; a test below looks inside',
}
const invite = () => ({ email: stranger(), role: 'member', encrypted_workspace_key: envelope })

const spareProject = async ({ world }: Scene) => {
  const { name } = await addProject(world)
  return { workspace_id: world.workspaceId, project_name: name }
}
const spareShort = async ({ world }: Scene) => ({ project: (await addProject(world)).id })

const register = ({ world }: Scene) =>
  world.person.owner.api.call(registerAgent, {
    params: { workspace_id: world.workspaceId },
    body: { name: unique('spare-agent') },
  })
const ofAgent = async (scene: Scene) => ({
  ...inWorkspace(scene),
  registration_id: (await register(scene)).agent.id,
})
const ofToken = async (scene: Scene) => {
  const { agent, token_id } = await register(scene)
  return { ...inWorkspace(scene), registration_id: agent.id, token_id }
}
const ofWorkloadToken = async (scene: Scene) => {
  const { token_id } = await scene.world.person.owner.api.call(issueWorkloadToken, {
    params: inProject(scene),
    body: { label: unique('spare'), environment: 'development' },
  })
  return { ...inProject(scene), token_id }
}
const grants = async ({ world }: Scene) => [
  {
    project_id: world.projectId,
    environment: 'development',
    epoch: await epochOf(world),
    envelope,
  },
]
const grantQuery = (scene: Scene) => ({ ...inProject(scene), environment: 'development' })

async function epochOf({ app, workspaceId }: World): Promise<number> {
  const [found] = await app.connection.sql`select epoch from workspaces where id = ${workspaceId}`
  return found?.epoch
}

async function rekeyBody({ world }: Scene) {
  const { db } = world.app.connection
  const members = await db
    .select({ user_id: memberships.userId })
    .from(memberships)
    .where(eq(memberships.workspaceId, world.workspaceId))
  const stored = await db
    .select({ project_id: secrets.projectId, environment: secrets.environment, key: secrets.key })
    .from(secrets)
    .where(eq(secrets.workspaceId, world.workspaceId))
  return {
    epoch: (await epochOf(world)) + 1,
    members: members.map((member) => ({ ...member, encrypted_workspace_key: envelope })),
    tokens: [],
    secrets: stored.map((secret) => ({ ...secret, value: ciphertext, policy: null })),
  }
}

const auditQuery = (scene: Scene) => ({ ...inWorkspace(scene), ...inProject(scene) })

/** A second session of the caller. */
async function spareSession({ world, caller }: Scene) {
  const { token } = await logInAs(world.app, caller)
  const answer = await world.app.call('GET', '/api/auth/sessions/', { token })
  const listed = (answer.body as { data: { id: string; current: boolean }[] }).data
  return { id: listed.find(({ current }) => current)?.id ?? '', token }
}

/** No row here tests passwords: the error for a wrong one proves that the caller was authenticated. */
const wrongPassword = async ({ caller }: Scene) => {
  const { key_salt, kdf, encrypted_private_key } = await registrationOf(caller)
  return {
    body: {
      current_password: 'not the password',
      new_password: 'a new password',
      key_salt,
      kdf,
      encrypted_private_key,
    },
  }
}
const refused = { through: [422] }
const refusedKeys = {
  ...refused,
  slots: {
    'body.workspaces.workspace_id': {
      status: 422,
      because: 'the password is asked for first; new_keys.test.ts has it with the right one',
    },
  },
}

const origin = 'https://vault.example.com'

/** Nobody has its key, so it opens nothing. */
const sparePasskey = async ({ world, caller }: Scene) => {
  const [row] = await world.app.connection.db
    .insert(passkeys)
    .values({
      userId: caller.userId,
      rpId: 'vault.example.com',
      credentialId: crypto.getRandomValues(new Uint8Array(32)),
      publicKey: new Uint8Array(),
      verifier: new Uint8Array(),
      counter: 0,
      transports: [],
      label: 'spare',
    })
    .returning({ id: passkeys.id })
  return { passkey_id: row?.id ?? '' }
}
const bytes = Buffer.alloc(64, 7).toString('base64url')
const said = { id: bytes, client_data_json: bytes }
/** Uses its own credential each time: after five wrong answers with one credential the next would have to wait. */
const assertion = () => {
  const id = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
  const rest = { authenticator_data: bytes, signature: bytes, user_handle: bytes }
  return { credential: { ...said, id, ...rest } }
}

const passkeyRows: Record<string, Row> = {
  'auth.passkeys.list': row(none),
  'auth.passkeys.begin': row(
    () => ({ body: { current_password: 'not the password', origin } }),
    refused,
  ),
  'auth.passkeys.add': row(
    () => ({ body: { label: 'Laptop', credential: { ...said, attestation_object: bytes } } }),
    refused,
  ),
  'auth.passkeys.rename': row(async (scene) => ({
    params: await sparePasskey(scene),
    body: { label: 'Phone' },
  })),
  'auth.passkeys.remove': row(async (scene) => ({ params: await sparePasskey(scene) })),
  'auth.passkeys.seed': row(async (scene) => ({ params: await sparePasskey(scene) })),
  'auth.passkeys.set_seed': row(async (scene) => {
    // A right password in between: after five wrong ones in a row the next would have to wait.
    await logInAs(scene.world.app, scene.caller)
    const body = { current_password: 'not the password', encrypted_seed: envelope }
    return { params: await sparePasskey(scene), body }
  }, refused),
  'auth.passkey_login.begin': row(() => ({ body: { origin } }), refused),
  'auth.passkey_login': row(() => ({ body: assertion() }), { through: [401] }),
  'auth.console.passkey_login': row(() => ({ headers: ofConsole(), body: assertion() }), {
    through: [401],
  }),
}

const accounts: Record<string, Row> = {
  'auth.prelogin': row(({ caller }) => ({ body: { email: caller.email } })),
  'auth.register': row(async () => ({ body: await registrationOf(newApplicant('applicant')) }), {
    slots: { 'body.workspace.id': { status: 201, because: 'the client names a new workspace' } },
  }),
  'auth.login': row(({ caller: { email, password } }) => ({ body: { email, password } })),
  'auth.refresh': row(async ({ world, caller }) => ({
    body: { refresh: (await logInAs(world.app, caller)).refresh },
  })),
  'auth.console.login': row(({ caller: { email, password } }) => ({
    headers: ofConsole(),
    body: { email, password },
  })),
  'auth.console.refresh': row(async ({ world, caller }) => ({
    headers: ofConsole({ refresh: (await logInAs(world.app, caller)).refresh }),
  })),
  'auth.logout': row(async (scene) => ({ token: (await spareSession(scene)).token })),
  'auth.change_password': row(wrongPassword, refused),
  'auth.patch_password': row(wrongPassword, refused),
  'auth.delete_account': row(() => ({ body: { current_password: 'not the password' } }), refused),
  'users.replace_keys': row(async ({ world, caller }) => {
    // A right password in between: after five wrong ones in a row the next would have to wait.
    await logInAs(world.app, caller)
    const { public_key, encrypted_private_key, workspace } = await registrationOf(caller)
    const { id, encrypted_workspace_key } = workspace
    return {
      body: {
        current_password: 'not the password',
        signing_key: exampleOfForm.signingKey,
        public_key,
        key_proof: exampleOfForm.keyProof,
        encrypted_private_key,
        workspaces: [{ workspace_id: id, encrypted_workspace_key }],
      },
    }
  }, refusedKeys),
  'auth.sessions.list': row(none),
  'auth.sessions.revoke': row(async (scene) => ({
    params: { session_id: (await spareSession(scene)).id },
  })),
  'auth.recovery.replace': row(async ({ caller }) => {
    const { recovery } = await registrationOf(caller)
    return { body: { current_password: 'not the password', recovery } }
  }, refused),
  'auth.recover.begin': row(
    () => ({ body: { email: stranger(), recovery_verifier: 'no such verifier' } }),
    { through: [401] },
  ),
  'auth.recover': row(
    async ({ caller }) => {
      const { key_salt, kdf, encrypted_private_key, recovery } = await registrationOf(caller)
      return {
        body: {
          email: stranger(),
          recovery_verifier: 'no such verifier',
          new_password: 'a new password',
          key_salt,
          kdf,
          encrypted_private_key,
          recovery,
        },
      }
    },
    { through: [401] },
  ),
  'users.me': row(none),
  'users.public_key': row(({ world }) => ({ params: { email: world.person.admin.email } }), {
    slots: { 'params.email': newEmail },
  }),
}

/** Only the invited person can answer an invitation; for everyone else it does not exist. */
const onlyInvited = {
  owner: 404,
  admin: 404,
  member: 404,
  read_only: 404,
  removed: 404,
  other_owner: 404,
} as const

/** The invitation to the workspace itself stays open for the other rows. */
const invitation = async ({ world, name }: Scene) => ({
  params: { workspace_id: name === 'invited' ? await world.inviteAgain() : world.workspaceId },
})

const workspaceRows: Record<string, Row> = {
  'workspaces.list': row(none),
  'workspaces.create': row(
    () => ({
      body: { id: Bun.randomUUIDv7(), name: 'Another', encrypted_workspace_key: envelope },
    }),
    { slots: { 'body.id': { status: 201, because: 'the client names a new workspace' } } },
  ),
  'workspaces.get': row((scene) => ({ params: inWorkspace(scene) })),
  'workspaces.rename': row((scene) => ({ params: inWorkspace(scene), body: { name: 'Renamed' } })),
  'workspaces.delete': row(async ({ world }) => ({
    params: { workspace_id: await copyWorkspace(world) },
  })),
  'workspaces.accept': row(invitation, { expect: onlyInvited }),
  'workspaces.decline': row(invitation, { expect: onlyInvited }),
  'workspaces.rekey': row(async (scene) => ({
    params: inWorkspace(scene),
    body: await rekeyBody(scene),
  })),
  'links.list': row((scene) => ({ params: inWorkspace(scene) }), {
    expect: { removed: 404, other_owner: 404 },
  }),
  'members.list': row((scene) => ({ params: inWorkspace(scene) })),
  'members.invite': row((scene) => ({
    params: inWorkspace(scene),
    body: { invites: [invite()] },
  })),
  'members.change_role': row(async (scene) => ({
    params: { ...inWorkspace(scene), member: await addTarget(scene.world, 'member') },
    body: { role: 'read_only' },
  })),
  'members.remove': row(
    async (scene) => ({
      params: { ...inWorkspace(scene), member: await addTarget(scene.world, 'member') },
    }),
    // Anyone may leave, so the contract's permission is to read; only an admin may remove others.
    { expect: { member: 403, read_only: 403 } },
  ),
}

const projectRows: Record<string, Row> = {
  'projects.list': row(none),
  'projects.create': row((scene) => ({ body: { name: unique('made'), ...inWorkspace(scene) } })),
  'projects.get': row(({ world }) => ({
    params: { workspace_id: world.workspaceId, project_name: world.projectName },
  })),
  'projects.get_short': row(({ world }) => ({ params: { project: world.projectId } })),
  'projects.update': row(async (scene) => ({
    params: await spareProject(scene),
    body: { name: unique('renamed') },
  })),
  'projects.update_short': row(async (scene) => ({
    params: await spareShort(scene),
    body: { description: 'Said' },
  })),
  'projects.delete': row(async (scene) => ({ params: await spareProject(scene) })),
  'projects.delete_short': row(async (scene) => ({ params: await spareShort(scene) })),
  'projects.restore': row(async ({ world }) => {
    const { id, name } = await addProject(world)
    const params = { workspace_id: world.workspaceId, project_name: name }
    await world.person.owner.api.call(deleteProject, { params })
    return { params: { project_id: id } }
  }),
  'projects.invite': row((scene) => ({ params: inProject(scene), body: { invites: [invite()] } })),
  'projects.invite_by_name': row(({ world }) => ({
    params: { workspace_id: world.workspaceId, project_name: world.projectName },
    body: { members: [world.person.admin.email] },
  })),
  'projects.environments': row((scene) => ({ params: inProject(scene) })),
  'projects.environments.create': row((scene) => ({
    params: inProject(scene),
    body: { name: unique('made') },
  })),
  'projects.environments.delete': row(async (scene) => {
    const name = unique('spare')
    await scene.world.person.owner.api.call(createEnvironment, {
      params: inProject(scene),
      body: { name },
    })
    return { params: { ...inProject(scene), environment: name } }
  }),
  'projects.coverage': row((scene) => ({ params: inProject(scene) })),
  'projects.diff': row((scene) => ({
    params: inProject(scene),
    query: { from: 'development', to: 'production' },
  })),
}

const secretRows: Record<string, Row> = {
  'secrets.upsert': row((scene) => ({
    body: {
      ...inProject(scene),
      environment: 'development',
      secrets: [{ key: unique('MADE_'), value: ciphertext }],
    },
  })),
  'secrets.list': row((scene) => ({ params: inProject(scene), query: { include: 'value' } })),
  'secrets.get': row((scene) => ({ params: ofSecret(scene) })),
  'secrets.delete': row(async (scene) => ({
    params: { ...inProject(scene), key: await addSecret(scene.world) },
  })),
  'secrets.deleted': row((scene) => ({ params: inProject(scene) })),
  'secrets.restore': row(async (scene) => {
    const key = await addSecret(scene.world)
    await scene.world.person.owner.api.call(deleteSecret, {
      params: { ...inProject(scene), key },
    })
    return { params: inProject(scene), body: { environment: 'development', keys: [key] } }
  }),
  'secrets.derived': row((scene) => ({ params: inProject(scene) })),
  'secrets.versions': row((scene) => ({ params: ofSecret(scene) })),
  'secrets.rollback': row(async (scene) => ({
    params: { ...inProject(scene), key: await addSecret(scene.world) },
    body: { version: 1 },
  })),
}

const agentRows: Record<string, Row> = {
  'agents.register': row(
    async (scene) => ({
      params: inWorkspace(scene),
      body: {
        name: unique('made'),
        token: {
          id: Bun.randomUUIDv7(),
          verifier: new Uint8Array(32).toBase64(),
          public_key: new Uint8Array(32).fill(9).toBase64(),
          envelopes: await grants(scene),
        },
      },
    }),
    { slots: { 'body.token.id': { status: 201, because: 'the client names a new token' } } },
  ),
  'agents.register_in_project': row((scene) => ({
    params: { ...inWorkspace(scene), ...inProject(scene) },
    body: { name: unique('made') },
  })),
  'agents.list': row((scene) => ({ params: inWorkspace(scene) })),
  'agents.list_in_project': row((scene) => ({
    params: { ...inWorkspace(scene), ...inProject(scene) },
  })),
  'agents.get': row(async (scene) => ({ params: await ofAgent(scene) })),
  'agents.delete': row(async (scene) => ({ params: await ofAgent(scene) })),
  'agents.tokens.issue': row(async (scene) => ({
    params: await ofAgent(scene),
    body: { label: 'second' },
  })),
  'agents.tokens.list': row(async (scene) => ({ params: await ofAgent(scene) })),
  'agents.tokens.revoke': row(async (scene) => ({ params: await ofToken(scene) })),
  'agents.tokens.provision': row(async (scene) => ({
    params: await ofToken(scene),
    body: await grants(scene),
  })),
  'agents.tokens.unprovision': row(async (scene) => {
    const params = await ofToken(scene)
    const body = await grants(scene)
    await scene.world.person.owner.api.call(provisionAgentToken, { params, body })
    return { params, query: grantQuery(scene) }
  }),
  'workload_tokens.issue': row((scene) => ({
    params: inProject(scene),
    body: { label: unique('made'), environment: 'development' },
  })),
  'workload_tokens.list': row((scene) => ({ params: inProject(scene) })),
  'workload_tokens.revoke': row(async (scene) => ({ params: await ofWorkloadToken(scene) })),
  'agents.tokens.grant': row(async (scene) => ({ params: await ofToken(scene), body: grantBody }), {
    through: NOT_SIGNED,
  }),
  'workload_tokens.grant': row(
    async (scene) => ({ params: await ofWorkloadToken(scene), body: grantBody }),
    { through: NOT_SIGNED },
  ),
  'workload_tokens.provision': row(async (scene) => ({
    params: await ofWorkloadToken(scene),
    body: await grants(scene),
  })),
  'workload_tokens.unprovision': row(async (scene) => {
    const params = await ofWorkloadToken(scene)
    const body = await grants(scene)
    await scene.world.person.owner.api.call(provisionWorkloadToken, { params, body })
    return { params, query: grantQuery(scene) }
  }),
}

const allowlistRows: Record<string, Row> = {
  'allowlist.list': row((scene) => ({ params: inWorkspace(scene) })),
  'allowlist.add': row((scene) => ({
    params: inWorkspace(scene),
    body: { domain: `${unique('added')}.example.com` },
  })),
  'allowlist.remove': row(async (scene) => {
    const domain = `${unique('spare')}.example.com`
    await scene.world.person.owner.api.call(addToAllowlist, {
      params: inWorkspace(scene),
      body: { domain },
    })
    return { params: { ...inWorkspace(scene), domain } }
  }),
  'allowlist.remove_log': row(async (scene) => {
    const params = inWorkspace(scene)
    await scene.world.person.owner.api.call(addToAllowlist, { params, body: { domain: 'log' } })
    return { params }
  }),
  'allowlist.log': row((scene) => ({ params: inWorkspace(scene) })),
}

const newNoticeTarget = {
  type: 'webhook',
  url: 'https://hooks.example.com/',
  events: ['rekey.due'],
}

const ofNewTarget = async (scene: Scene) => {
  const { app, workspaceId } = scene.world
  const id = Bun.randomUUIDv7()
  // Not by a request: there are more of them than the quota allows.
  await app.connection.sql`
    insert into notice_targets (id, workspace_id, type, host, events, secret)
    values (${id}, ${workspaceId}, 'webhook', 'hooks.example.com', '["rekey.due"]', ${new Uint8Array(1)})`
  return { ...inWorkspace(scene), target_id: id }
}

const noticeRows: Record<string, Row> = {
  'notice_targets.list': row((scene) => ({ params: inWorkspace(scene) })),
  'notice_targets.create': row(async (scene) => {
    const { app, workspaceId } = scene.world
    await app.connection.sql`delete from notice_targets where workspace_id = ${workspaceId}`
    return { params: inWorkspace(scene), body: newNoticeTarget }
  }),
  'notice_targets.delete': row(async (scene) => ({ params: await ofNewTarget(scene) })),
  'notice_targets.test': row(async (scene) => ({ params: await ofNewTarget(scene) })),
  'notices.list': row((scene) => ({ params: inWorkspace(scene) })),
}

/** A proposal that nobody has made before. */
async function proposed({ world }: Scene): Promise<string> {
  const { sql } = world.app.connection
  const id = Bun.randomUUIDv7()
  await sql`insert into proposals (id, workspace_id, token_id, agent, reason, hosts, secrets, content_hash,
      created_at, expires_at)
    values (${id}, ${world.workspaceId}, ${id}, 'bot', 'why', '[]', '[]', ${Buffer.from(id)}, now(),
      now() + interval '7 days')`
  return id
}

const proposalRows: Record<string, Row> = {
  'proposals.list': row((scene) => ({ params: inWorkspace(scene) })),
  'proposals.close': row(async (scene) => ({
    params: { ...inWorkspace(scene), proposal_id: await proposed(scene) },
    body: { status: 'rejected' },
  })),
}

const auditRows: Record<string, Row> = {
  'audit.list': row((scene) => ({ query: auditQuery(scene) }), {
    slots: { 'query.project_id': filter },
  }),
  'audit.get': row(async ({ world }) => {
    const { sql } = world.app.connection
    const [found] = await sql`
      select id from audit_logs where workspace_id = ${world.workspaceId} limit 1`
    return { params: { log_id: found?.id }, query: { workspace_id: world.workspaceId } }
  }),
  'audit.summary': row((scene) => ({ query: inWorkspace(scene) })),
  'audit.calls': row(
    (scene) => ({ query: { ...inWorkspace(scene), ...inProject(scene), credential: 'KEY' } }),
    { slots: { 'query.project_id': filter } },
  ),
  'audit.usage': row((scene) => ({ params: inWorkspace(scene) })),
  'attention.tokens': row((scene) => ({ params: inWorkspace(scene) })),
  'attention.credentials': row((scene) => ({ params: inWorkspace(scene) })),
  'audit.watch': row((scene) => ({ params: inWorkspace(scene) })),
  'audit.export': row((scene) => ({ query: auditQuery(scene) }), {
    slots: { 'query.project_id': filter },
  }),
}

const reported = () => ({
  timestamp: new Date().toISOString(),
  method: 'GET',
  target_domain: 'api.example.com',
})

const open: Record<string, Row> = {
  'health.get': row(none),
  'health.status': row(none),
  'health.resolver': row(none),
  'metrics.compute': row(none),
  // The first person who registered owns the installation.
  'metrics.list': row(none, {
    expect: {
      ...{ admin: 403, member: 403, read_only: 403 },
      ...{ invited: 403, removed: 403, other_owner: 403 },
    },
  }),
  'instance.report': row(none, {
    expect: {
      ...{ admin: 403, member: 403, read_only: 403 },
      ...{ invited: 403, removed: 403, other_owner: 403 },
    },
  }),
  'instance.get': row(none),
  'docs.page': row(none),
  'docs.document': row(none),
  'docs.script': row(none),
  'docs.style': row(none),
}

const tokenRows: Record<string, Row> = {
  'audit.record': row((scene) => ({ query: inWorkspace(scene), body: reported() }), {
    // A session reports for a workspace of which its person is a member.
    expect: { invited: 404, removed: 404, other_owner: 404 },
  }),
  'workloads.env': row(
    (scene) => ({ body: { ...inProject(scene), environment: 'development' } }),
    // Authenticated, and stopped because nobody gave the token a key.
    { through: [409] },
  ),
  'links.list_for_token': row(none),
  'workloads.version': row(none),
  'workloads.token': row(none),
  'resolver.resolve': row(() => ({ body: { target_url: 'https://blocked.example.com/' } }), {
    // Authenticated, and stopped by the allowlist: nothing is sent.
    through: [403],
  }),
  'resolver.allowlist': row(none),
  'resolver.credentials': row(none),
  'resolver.shapes': row(none),
  // An ID that no token has.
  'resolver.approval': row(() => ({ params: { approval_id: Bun.randomUUIDv7() } }), {
    through: [404],
  }),
  'resolver.propose': row(() => ({
    body: { reason: 'why', hosts: [`${unique('asked')}.example.com`] },
  })),
  'resolver.proposal': row(() => ({ params: { proposal_id: Bun.randomUUIDv7() } }), {
    // Authenticated, and it has no such proposal.
    through: [404],
  }),
  ...Object.fromEntries(
    forwardCalls.map(({ name }) => [
      name,
      row(() => ({ params: { host: 'blocked.example.com', path: 'x' } }), { through: [403] }),
    ]),
  ),
}

export const rows: Record<string, Row> = {
  ...open,
  ...accounts,
  ...passkeyRows,
  ...workspaceRows,
  ...projectRows,
  ...secretRows,
  ...agentRows,
  ...allowlistRows,
  ...noticeRows,
  ...proposalRows,
  ...auditRows,
  ...approvalRows,
  ...tokenRows,
}
