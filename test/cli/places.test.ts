// tier: quick
/** Workspaces and projects from their creation to their deletion. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { answering } from './answering.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal
let bob: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@places.example')
  bob = await openAccount(app, 'bob@places.example')
  await ada.must('workspace', 'create', 'acme')
  await ada.must('workspace', 'use', 'acme')
  const { fingerprint } = (await bob.json('whoami')) as { fingerprint: string }
  await ada.must('workspace', 'invite', 'bob@places.example', '--fingerprint', fingerprint)
  await bob.must('workspace', 'accept', 'acme')
  await ada.must('project', 'create', 'shared')
})
afterAll(() => {
  for (const person of [ada, bob]) person.remove()
})

/** The question of a command, answered with no. Line breaks of the terminal are removed. */
async function askedBy(...args: string[]): Promise<string> {
  const { code, screen } = await answering(args, {
    cwd: ada.cwd,
    env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane },
    typed: [{ when: '(y/N)', type: 'n\r' }],
  })
  expect(code).toBe(5)
  return Bun.stripANSI(screen).replace(/\s+/g, '')
}

test('a workspace is renamed, and deleted permanently after a question that lists the losses', async () => {
  await ada.must('workspace', 'create', 'short-lived')
  const renamed = (await ada.json('workspace', 'rename', 'short-lived', 'Shorter')) as Record<
    string,
    unknown
  >
  expect(renamed).toEqual({
    id: expect.any(String),
    workspace: 'Shorter',
    renamed_from: 'short-lived',
  })
  await ada.must('project', 'create', 'inside', '-w', 'Shorter')
  expect(await askedBy('workspace', 'delete', 'Shorter')).toContain(
    'DeleteShorterfor1member,with1project(inside)?Thisispermanent.',
  )
  expect(await ada.json('workspace', 'delete', 'Shorter', '--yes')).toEqual({
    deleted: 'Shorter',
    id: renamed.id,
  })
  const names = ((await ada.json('workspace', 'list')) as { name: string }[]).map(
    ({ name }) => name,
  )
  expect(names.filter((name) => name !== 'acme')).toEqual(['Personal'])
  const own = await ada.run(['workspace', 'delete', 'Personal', '--yes'])
  expect([own.code, own.err]).toEqual([5, expect.stringContaining('personal workspace')])
})

test('deleting a workspace or project without the right to do so is rejected, and nothing is lost', async () => {
  for (const args of [
    ['workspace', 'delete', 'acme', '--yes'],
    ['project', 'delete', 'shared', '-w', 'acme', '--yes'],
  ]) {
    const { code, err } = await bob.run(args)
    expect({ args, code, err }).toEqual({
      args,
      code: 5,
      err: expect.stringContaining('forbidden'),
    })
  }
  expect(await ada.must('project', 'list', '-q')).toContain('shared')
})

test('a project is renamed in its project file too, and described', async () => {
  await ada.must('init', 'before', '-w', 'acme')
  const { out, err } = await ada.run(['project', 'rename', 'before', 'after'])
  const file = join(ada.cwd, '.cloakroom.json')
  expect([out, err]).toEqual([
    'Renamed before to after.\n',
    `Updated ${file}. In other folders that use it, run: cloakroom link after\n`,
  ])
  expect(JSON.parse(readFileSync(file, 'utf8')).project).toBe('after')
  await ada.must('project', 'describe', 'after', 'what it is for')
  const listed = (await ada.json('project', 'list')) as { name: string; description: string }[]
  expect(listed.find(({ name }) => name === 'after')?.description).toBe('what it is for')
  const other = await ada.run(['project', 'rename', 'shared', 'after'])
  expect([other.code, other.err]).toEqual([5, expect.stringContaining('already_exists')])
  await ada.must('project', 'rename', 'shared', 'shared-2')
  expect(JSON.parse(readFileSync(file, 'utf8')).project).toBe('after')
  await ada.must('project', 'rename', 'shared-2', 'shared')
})

test('deleting a project names what is lost', async () => {
  await ada.must('init', 'doomed', '--yes', '-w', 'acme')
  await ada.must('secrets', 'set', 'A=1', 'B=2')
  await ada.must('secrets', 'set', 'A=1', '-e', 'production')
  await ada.must('agent', 'create', 'doomed-bot')
  await ada.must('workload-token', 'issue', 'ci')
  expect(await askedBy('project', 'delete', 'doomed')).toContain(
    'Deletedoomedwith3secrets(development2,production1),1agentand1workloadtoken?Anadmincanrestoretheproject',
  )
  expect(await ada.must('project', 'list', '-q')).toContain('doomed')
  await ada.must('project', 'delete', 'doomed', '--yes')
  expect(await ada.must('project', 'list', '-q')).not.toContain('doomed')
})
