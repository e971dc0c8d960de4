// tier: quick, both databases in test:all
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { version } from '../../../package.json'
import { migrations } from '../../../src/database/migrations/migrate.ts'
import { register } from '../../../src/features/accounts/contract.ts'
import { getInstance, reportInstance } from '../../../src/features/instance/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { databaseKind } from '../../support/database.ts'
import { logInAs, newApplicant, registerPerson, registrationOf } from '../../support/people.ts'

const CODE = 'a code that only the operator has'
const RESOLVER = 'https://resolver.example.com'

let app: TestApp
let coded: TestApp
const PASSKEY_ORIGINS = 'https://vault.example.com,http://localhost:8765'

beforeAll(async () => {
  app = await startTestApp({ REGISTRATION: 'first', SERVICE_RESOLVER_URL: RESOLVER })
  coded = await startTestApp({ OWNER_CODE: CODE, PASSKEY_ORIGINS })
})
afterAll(() => Promise.all([app.stop(), coded.stop()]))

test('the instance reports whether it has an owner yet, and whether registration is open', async () => {
  const readInstance = () => app.as().call(getInstance, {})
  const addresses = { server: 'http://localhost:0', resolver: RESOLVER }
  expect(await readInstance()).toEqual({
    has_owner: false,
    may_register: true,
    needs_owner_code: false,
    addresses,
    passkey_origins: [],
  })
  const owner = await registerPerson(app, 'owner')
  expect(await readInstance()).toEqual({
    has_owner: true,
    may_register: false,
    needs_owner_code: false,
    addresses,
    passkey_origins: [],
  })
  const report = await owner.api.call(reportInstance, {})
  expect(report).toEqual({
    version,
    started_at: expect.any(String),
    database: {
      kind: databaseKind,
      version: expect.stringMatching(/^\d+\.\d+/),
      size_bytes: expect.any(Number),
      migration: migrations.at(-1)?.name ?? '',
    },
    last_backup: null,
    backup_failed_at: null,
    settings: {
      registration: 'first',
      workers: 1,
      audit_retention_days: null,
      has_metrics: false,
      keeps_seen_state: expect.any(Boolean),
    },
  })
  expect(report.database.size_bytes).toBeGreaterThan(1_000_000)
  for (const key of [app.config.SECRET_KEY, app.config.ENCRYPTION_KEY])
    expect(JSON.stringify(report)).not.toContain(key)
})

describe('an instance with OWNER_CODE', () => {
  const apply = async (name: string, more: object = {}) => {
    const applicant = newApplicant(name)
    const body = { ...(await registrationOf(applicant)), ...more }
    return { applicant, answer: await coded.call('POST', register.path, { body }) }
  }

  test('the first registration without OWNER_CODE does not own the server', async () => {
    for (const more of [{}, { owner_code: 'a code that somebody guessed' }, { owner_code: ' ' }]) {
      const { answer } = await apply('stranger', more)
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ error_code: 'registration_closed' })
    }
    const [{ count } = { count: null }] = await coded.connection.sql`
      select count(*)::int as count from users`
    expect(count).toBe(0)
    expect(await coded.as().call(getInstance, {})).toMatchObject({
      has_owner: false,
      needs_owner_code: true,
      passkey_origins: PASSKEY_ORIGINS.split(','),
    })
  })

  test('one of many concurrent registrations with and without OWNER_CODE owns the instance, and the others are ordinary people', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name, at) => apply(name, at % 2 === 0 ? { owner_code: CODE } : {})),
    )
    const made = answers.filter(({ answer }) => answer.status === 201)
    const owners = made.filter(
      ({ answer }) =>
        (answer.body as { data: { user: { is_instance_owner: boolean } } }).data.user
          .is_instance_owner,
    )
    expect(owners).toHaveLength(1)
    expect(['a', 'c']).toContain(owners[0]?.applicant.email.slice(0, 1) ?? '')
    const { applicant, answer } = await apply('later')
    expect(answer.status).toBe(201)
    const { token } = await logInAs(coded, applicant)
    const refused = await coded.call('GET', reportInstance.path, { token })
    expect(refused.status).toBe(403)
    expect(await coded.as().call(getInstance, {})).toMatchObject({
      has_owner: true,
      needs_owner_code: false,
    })
  })
})
