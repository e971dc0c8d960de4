// tier: quick
/** A sealed delivery is verified by its bearer with only the token. */
import { beforeEach, expect, test } from 'bun:test'
import { makeToken } from '../../src/client/agents/tokens.ts'
import { signManifest } from '../../src/client/signed/statements.ts'
import { type SealedAnswer, verifyDelivery } from '../../src/client/signed/verified_delivery.ts'
import { grantEnvironment } from '../../src/client/vault.ts'
import { type OpenWorkspace, toPlainWorkspace } from '../../src/client/workspace.ts'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import { parseToken, tokenKeyPair } from '../../src/core/crypto/token.ts'
import { manifestRoot, signText, type TokenGrant } from '../../src/sigchain/index.ts'
import {
  ada,
  bea,
  ENVIRONMENT,
  hashOfSealed,
  type Links,
  linksOfTwo,
  openedBy,
  openLinks,
  PROJECT,
  place,
  sealed,
} from './signed_place.ts'

const NOW = new Date()
const PLAIN = '01920000-0000-7000-8000-000000000100'
const AGENT = '01920000-0000-7000-8000-000000000300'
const scope = { kind: 'workload', ...place } as const

type Answer = { -readonly [Field in keyof SealedAnswer]: SealedAnswer[Field] }
type Changing = (answer: Answer) => unknown
type Made = Awaited<ReturnType<typeof makeToken>>

let links: Links
let workspace: OpenWorkspace
let made: Made
let answer: Answer

const b64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

async function manifestOf(values: Record<string, string>, revision = 1, by = workspace) {
  const rows = Object.entries(values).map(([key, value]) => [key, hashOfSealed(value)] as const)
  const signer = await by.signer()
  if (signer === null) throw new Error('a signed workspace')
  return signManifest(signer, place, { revision, root: await manifestRoot(new Map(rows)) })
}

/** An honest server's answer to a token. */
async function answerFor({ body }: Made): Promise<Answer> {
  if (!('grant' in body.token)) throw new Error('a signed workspace')
  const { grant, binding, envelopes } = body.token
  const values = { A: sealed(workspace, 'A', '1'), B: sealed(workspace, 'B', '2') }
  const kept = { KEPT: sealed(workspace, 'KEPT', 'not for environments') }
  return {
    workspace_id: workspace.id,
    project_id: PROJECT,
    environment: ENVIRONMENT,
    sealed: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value }])),
    envelopes,
    links: links.links.slice(0, 500),
    grant,
    binding,
    manifest: await manifestOf({ ...values, ...kept }),
    value_sha256: { KEPT: b64url(hashOfSealed(kept.KEPT)) },
  }
}

type Options = Partial<Parameters<typeof verifyDelivery>[2]>

function verify({ text }: Made = made, options: Options = {}) {
  const { id, secret } = parseToken(text) ?? { id: '', secret: new Uint8Array() }
  const more = async (after: number) => links.links.slice(after, after + 500)
  return verifyDelivery(
    answer,
    { id, secret: new Uint8Array(secret) },
    { more, now: NOW, ...options },
  )
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error) => error.reason ?? error,
  )

beforeEach(async () => {
  links = await linksOfTwo()
  workspace = openedBy(ada, links)
  made = await makeToken(workspace, scope, {}, [place])
  answer = await answerFor(made)
})

test('values that an admin granted and a member stored are verified', async () => {
  const { manifest } = answer
  const { root } = JSON.parse(manifest?.statement ?? '')
  const { seq, head } = links.chain()
  expect(await verify()).toEqual({ seq, head, revision: 1, root, headSeq: seq })
})

/** A grant with other contents, signed by another person. */
async function grantSaying(change: Partial<TokenGrant>, by = ada) {
  const { statement } = answer.grant ?? { statement: '' }
  const text = { ...JSON.parse(statement), signer: by.person.user_id, ...change }
  return signText('grant', text, by.identity.signingKey)
}

const lies: [string, string, Changing][] = [
  [
    'an older value',
    'root',
    ({ sealed: values }) => Object.assign(values, { A: { value: sealed(workspace, 'A', 'old') } }),
  ],
  ['a row left out', 'root', ({ sealed: values }) => delete values.B],
  ['a hidden row left out', 'root', (delivered) => Object.assign(delivered, { value_sha256: {} })],
  ['a row more', 'root', ({ sealed: values }) => Object.assign(values, { C: values.A })],
  ["another name's value", 'root', ({ sealed: values }) => Object.assign(values, { A: values.B })],
  [
    'a name twice',
    'root',
    (delivered) => Object.assign(delivered.value_sha256 ?? {}, { A: 'x'.repeat(43) }),
  ],
  ['no manifest', 'root', (delivered) => Object.assign(delivered, { manifest: null })],
  ['no grant', 'form', (delivered) => Object.assign(delivered, { grant: null })],
  ['no binding', 'form', (delivered) => Object.assign(delivered, { binding: undefined })],
  ['no links', 'order', (delivered) => Object.assign(delivered, { links: [] })],
  [
    'a shorter chain',
    'head',
    (delivered) => Object.assign(delivered, { links: links.links.slice(0, 1) }),
  ],
  ['an envelope that nobody signed', 'form', ({ envelopes: [first] }) => delete first?.statement],
  [
    'another envelope than the one that was signed',
    'mismatch',
    async ({ envelopes: [first] }) => {
      const theirs = { ...workspace, key: new Uint8Array(32).fill(9) }
      const { secret } = parseToken(made.text) ?? { secret: new Uint8Array() }
      const publicKey = toBase64(tokenKeyPair(made.id, secret).publicKey)
      const token = { id: made.id, publicKey }
      const { envelope } = await grantEnvironment(await theirs.signer(), theirs, token, place)
      Object.assign(first ?? {}, { envelope })
    },
  ],
  [
    "another environment's values",
    'mismatch',
    (delivered) => Object.assign(delivered, { environment: 'staging' }),
  ],
  [
    "another project's values",
    'mismatch',
    (delivered) => Object.assign(delivered, { project_id: bea.person.user_id }),
  ],
  [
    'another workspace',
    'workspace',
    (delivered) => Object.assign(delivered, { workspace_id: PLAIN }),
  ],
  [
    'a widened grant',
    'signature',
    async (delivered) => {
      const { signature } = await grantSaying({})
      const { statement } = await grantSaying({ expires_at: null })
      Object.assign(delivered, { grant: { statement, signature } })
    },
  ],
  [
    'a grant by a member who may not',
    'right',
    async (delivered) => Object.assign(delivered, { grant: await grantSaying({}, bea) }),
  ],
  [
    'a grant for another public key',
    'mismatch',
    async (delivered) =>
      Object.assign(delivered, { grant: await grantSaying({ public_key: bea.person.public_key }) }),
  ],
  [
    'a grant that may only use',
    'mismatch',
    async (delivered) =>
      Object.assign(delivered, { grant: await grantSaying({ capabilities: ['use'] }) }),
  ],
  [
    'a grant for elsewhere',
    'mismatch',
    async (delivered) =>
      Object.assign(delivered, { grant: await grantSaying({ environment: 'staging' }) }),
  ],
]

test.each(lies)('%s is rejected (%s)', async (_, reason, change) => {
  await change(answer)
  expect(await refusal(verify())).toBe(reason)
})

test('granted and stored values are rejected if they were not requested: the server cannot choose', async () => {
  const agent = { kind: 'agent', agentId: AGENT, projectId: null, environment: null } as const
  const both = [place, { ...place, environment: 'staging' }]
  const order = { capabilities: ['use', 'read'] as TokenGrant['capabilities'] }
  made = await makeToken(workspace, agent, order, both)
  answer = await answerFor(made)
  const asked = { project_id: PROJECT, environment: ENVIRONMENT }
  const verified = await verify()
  for (const right of [asked, { environment: ENVIRONMENT }, { project_id: PROJECT }])
    expect(await verify(made, { asked: right })).toEqual(verified)
  for (const wrong of [{ environment: 'staging' }, { ...asked, project_id: bea.person.user_id }])
    expect(await refusal(verify(made, { asked: wrong }))).toBe('mismatch')
})

test("a foreign chain is refused by the token's binding", async () => {
  const workspaceOfBea = openedBy(bea, await openLinks(bea))
  const other = await makeToken(workspaceOfBea, scope, {}, [place])
  const { grant } = 'grant' in other.body.token ? other.body.token : { grant: null }
  const forged = await openLinks(bea)
  Object.assign(answer, { grant, links: forged.links })
  expect(await refusal(verify())).toBe('binding')
})

test('a token that was revoked in the chain, or has expired, is rejected', async () => {
  expect(await refusal(verify(made, { now: new Date(+NOW + 92 * 86_400_000) }))).toBe('expired')
  await links.add({ type: 'tokens.revoked', body: { token_ids: [made.id] } })
  answer.links = links.links
  expect(await refusal(verify())).toBe('revoked')
})

test('a state that was verified earlier may advance, and not go back', async () => {
  const before = { ...answer, sealed: { ...answer.sealed } }
  const values = { A: sealed(workspace, 'A', '2') }
  await links.add({ type: 'allowlist.changed', body: { add: ['api.example.com'], remove: [] } })
  Object.assign(answer, {
    links: links.links,
    sealed: { A: { value: values.A } },
    value_sha256: {},
    manifest: await manifestOf(values, 2),
  })
  const seen = (await verify()) ?? undefined
  expect(await verify(made, { seen })).toEqual(seen ?? null)
  answer = before
  expect(await refusal(verify(made, { seen }))).toBe('order')
  answer = { ...before, links: links.links }
  expect(await refusal(verify(made, { seen }))).toBe('revision')
})

test('a long chain is read to its end', async () => {
  for (let at = 0; at < 600; at += 1) {
    await links.add({ type: 'allowlist.changed', body: { add: [`h${at}.example`], remove: [] } })
  }
  workspace = openedBy(ada, links)
  made = await makeToken(workspace, scope, {}, [place])
  answer = await answerFor(made)
  expect((await verify())?.seq).toBe(602)
})

test('the ID of a plain token states that nothing is signed, and that it belongs to no signed workspace', async () => {
  const plain = toPlainWorkspace({ ...workspace, id: PLAIN })
  const ofPlain = await makeToken(plain, scope, {}, [place])
  expect(ofPlain.body).toMatchObject({ environment: ENVIRONMENT })
  expect(await refusal(verify(ofPlain))).toBe('workspace')
  answer = { ...answer, workspace_id: PLAIN }
  expect(await verify(ofPlain)).toBeNull()
})
