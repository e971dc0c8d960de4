// tier: quick
/**
 * Workspaces that a server hides from a person who creates new keys, and strangers' invitations that try to block
 * them.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { PASSWORD, type Terminal } from './person.ts'
import { signedAccount, signedWorkspace } from './signed_person.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ RATE_API: '100000/1' })
})
afterAll(() => app.stop())

const withPassword = (person: Terminal, ...args: string[]) =>
  person.run(['account', ...args, '--yes', '--password-stdin', '--json'], {
    stdin: `${PASSWORD}\n`,
  })
const fingerprintOf = async (person: Terminal, email: string) => {
  const { fingerprint } = (await person.json('whoami')) as { fingerprint: string }
  return `${email}=${fingerprint}`
}

test('new keys are not created while the server hides a workspace of the person', async () => {
  const ada = await signedAccount(app, 'ada@example.com')
  const id = await signedWorkspace(app, 'ada@example.com', 'hidden')
  await ada.must('workspace', 'list')
  const { sql } = app.connection
  const [row] = await sql`delete from memberships where workspace_id = ${id} returning *`
  const { code, err } = await withPassword(ada, 'rotate-keys')
  expect(code).not.toBe(0)
  expect(JSON.parse(err)).toMatchObject({ error: { code: 'hidden_workspace' } })

  await sql`insert into memberships ${sql(row ?? {})}`
  expect(await withPassword(ada, 'rotate-keys')).toMatchObject({ code: 0 })
  await ada.must('allowlist', 'add', 'new.example.com', '-w', 'hidden')
  await sql`delete from memberships where workspace_id = ${id}`
  expect((await withPassword(ada, 'rotate-keys')).code).not.toBe(0)
  for (let count = 0; count < 2; count += 1) {
    const without = count === 0 ? ['--without', id] : []
    expect(await withPassword(ada, 'rotate-keys', ...without)).toMatchObject({ code: 0 })
  }
  ada.remove()
})

test('an invitation that does not open prevents neither new keys nor the deletion of the account', async () => {
  const vic = await signedAccount(app, 'vic@example.com')
  const mal = await signedAccount(app, 'mal@example.com')
  const { sql } = app.connection
  const invited = async (name: string, isJunk = true) => {
    const id = await signedWorkspace(app, 'mal@example.com', name)
    const fingerprint = await fingerprintOf(vic, 'vic@example.com')
    const invite = ['workspace', 'invite', 'vic@example.com', '-w', name, '--role', 'owner']
    await mal.must(...invite, '--fingerprint', fingerprint)
    if (isJunk)
      await sql`update memberships m set encrypted_workspace_key = o.encrypted_workspace_key
        from memberships o where m.workspace_id = ${id} and m.status = 'invited'
        and o.workspace_id = ${id} and o.status = 'active'`
  }
  await invited('junk')
  await invited('declined')
  await invited('good', false)
  await vic.must('workspace', 'accept', 'good')
  expect((await vic.run(['workspace', 'accept', 'junk'])).code).toBe(3)
  const { code, err } = await withPassword(vic, 'rotate-keys')
  expect([code, err]).toEqual([0, expect.stringContaining('the invitation to junk')])
  await vic.must('workspace', 'decline', 'declined')
  // Deleting the account also leaves workspaces with a key that no longer opens.
  await sql`update memberships set encrypted_workspace_key = '\\x00' where status = 'active'
    and user_id = (select id from users where email = 'vic@example.com')`
  await vic.must('workspace', 'remove', 'vic@example.com', '-w', 'good', '--yes')
  expect(await withPassword(vic, 'delete')).toMatchObject({ code: 0 })
  for (const person of [vic, mal]) person.remove()
})
