/**
 * `cloakroom demo`: the main job end to end on this machine. Every step is checked while it is printed;
 * the exit code is 0 only if all of it was true.
 */

import { deliverEnvironment } from '../../features/workloads/contract.ts'
import { type Agent, ask, mentions, pick, show } from './agent.ts'
import { type Narrator, openNarrator } from './narrator.ts'
import { createAgentWithToken, type Owner, prepare, revoke } from './owner.ts'
import { BASIC_USER, credentials, type Stage, setStage } from './stage.ts'

export async function runDemo(): Promise<number> {
  const narrator = openNarrator(
    (text) => process.stdout.write(text),
    process.stdout.isTTY && !process.env.NO_COLOR,
  )
  const stage = await setStage()
  try {
    const owner = await prepare(stage, narrator)
    const agent = await createAgentWithToken(narrator, owner)
    await callThroughResolver(stage, narrator, agent)
    await beRefused(stage, narrator, owner, agent)
    await lookBehind(stage, narrator)
  } finally {
    await stage.clear()
  }
  const failures = narrator.failures()
  process.stdout.write(
    failures === 0
      ? '\nAll claims held, and the demo left no traces.\nNext: cloakroom serve\n'
      : `\n${failures} of the claims did not hold.\n`,
  )
  return failures === 0 ? 0 : 1
}

async function callThroughResolver(stage: Stage, narrator: Narrator, agent: Agent): Promise<void> {
  narrator.step('The agent calls the API with a name instead of the key')
  const bearer = await show(stage, narrator, agent, {
    path: '/v1/charges',
    authorization: 'Bearer SVC_SECRET_PAYMENTS_KEY',
  })
  narrator.check('the API accepted the real key', bearer.answer.status_code === 200)
  narrator.check('the agent never saw it', !mentions(bearer))

  narrator.step('The agent calls it with Basic credentials')
  const pair = Buffer.from(`${BASIC_USER}:SVC_SECRET_BASIC_PASSWORD`).toString('base64')
  const basic = await show(stage, narrator, agent, {
    path: '/v1/charges',
    authorization: `Basic ${pair}`,
  })
  narrator.check('the API accepted the real password', basic.answer.status_code === 200)
  narrator.check('the agent never saw it', !mentions(basic))

  narrator.step('An API that echoes the key back')
  const echo = await show(stage, narrator, agent, {
    path: '/v1/echo',
    authorization: 'Bearer SVC_SECRET_PAYMENTS_KEY',
  })
  narrator.check('the answer came back redacted', echo.answer.redacted === true)
  narrator.check(
    'the agent never saw it',
    !mentions(echo) && JSON.stringify(echo).includes('Bearer SVC_SECRET_PAYMENTS_KEY'),
  )
}

async function beRefused(
  stage: Stage,
  narrator: Narrator,
  owner: Owner,
  agent: Agent,
): Promise<void> {
  const authorization = 'Bearer SVC_SECRET_PAYMENTS_KEY'
  narrator.step('The agent calls a host that is not allowed')
  const blocked = await show(stage, narrator, agent, {
    path: '/collect',
    authorization,
    host: 'evil.example',
  })
  narrator.check(
    'refused before anything was sent',
    blocked.status === 403 && blocked.answer.error_code === 'domain_blocked',
  )

  narrator.step('The agent asks for the values themselves')
  const asked = await ask(agent, `${stage.controlPlane}${deliverEnvironment.path}`, {})
  narrator.show('the agent saw', { http: asked.status, ...pick(asked.answer) })
  narrator.check(
    'refused: its token may use secrets, not read them',
    asked.status === 403 && asked.answer.error_code === 'scope_required',
  )

  narrator.step('The token is revoked')
  await revoke(owner, agent)
  const revoked = await show(stage, narrator, agent, { path: '/v1/charges', authorization })
  narrator.check(
    'refused immediately',
    revoked.status === 401 && revoked.answer.error_code === 'invalid_token',
  )
}

async function lookBehind({ app }: Stage, narrator: Narrator): Promise<void> {
  const { sql } = app.connection
  narrator.step('The audit log')
  const countPending = async () => {
    await app.flushAudit()
    const [row] =
      await sql`select count(*)::int as left from audit_logs where source = 'resolver' and status_code is null`
    return row?.left
  }
  while ((await countPending()) > 0) await Bun.sleep(50)
  const records = await sql`
    select decision, status_code, reason, credential_ref, target_domain, redacted, action
    from audit_logs where source = 'resolver' order by id`
  for (const record of records) {
    const { decision, status_code, credential_ref, reason, redacted } = record
    const what = record.target_domain ?? record.action
    narrator.show(
      decision,
      `${status_code} ${what} ${credential_ref ?? '-'}${redacted ? ' (redacted)' : ''}${reason ? ` (${reason})` : ''}`,
    )
  }
  narrator.check(
    'five decisions with names, without values',
    records.length === 5 && !JSON.stringify(records).includes(credentials.PAYMENTS_KEY),
  )

  narrator.step('The database')
  const [row] =
    await sql`select key, encode(value, 'hex') as value from secrets where key = 'PAYMENTS_KEY'`
  narrator.show(row?.key, `${row?.value.slice(0, 96)}…`)
  narrator.check(
    'ciphertext in two layers',
    !Buffer.from(row?.value ?? '', 'hex').includes(credentials.PAYMENTS_KEY),
  )
}
