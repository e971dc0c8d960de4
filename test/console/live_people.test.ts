// tier: all
/** Refused calls for an admin, a developer, and a member of an unsigned workspace. */
import { expect } from 'bun:test'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { requires } from '../support/requires.ts'
import { PASSWORD } from './accounts.ts'
import type { Visitor } from './browser.ts'
import { elsewhere, joined, shared, WORKSPACE } from './elsewhere.ts'
import { openEmployer } from './employer.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let employer: Awaited<ReturnType<typeof openEmployer>>
let path = ''

beforeAll(async () => {
  employer = await openEmployer('live')
  const { there, projectId, call } = employer
  path = `w/${there.workspace.id}/live`
  const terms = { environment: 'production', order: {}, places: [] }
  const { text } = await registerWithToken(there, { name: 'team-bot', projectId }, terms)
  expect(await call({ token: text, host: 'team.example' })).toBe('domain_blocked')
})
afterAll(async () => {
  await employer.ada.close()
  await employer.stage.close()
})

async function enter(name: string, role: 'admin' | 'member') {
  const { stage } = employer
  const visitor = await stage.person(name, 'account')
  await joined(stage.app.controlPlane, WORKSPACE, employer.email, visitor.email, role)
  await visitor.page.goto(`${stage.origin}/console/${path}`)
  const row = await opened(visitor, 'team.example')
  return { row, ...visitor }
}

async function opened({ page }: Pick<Visitor, 'page'>, host: string) {
  await page.getByRole('row').filter({ hasText: host }).first().click()
  const region = page.getByRole('region', { name: `Allow ${host}?` })
  await region.waitFor()
  return region
}

test('a developer sees the command for an admin, and cannot revoke the token', async () => {
  const { row, judge, close } = await enter('lin', 'member')
  await row.getByText('cloakroom allowlist add team.example').waitFor()
  for (const name of ['Sign and allow', 'More actions'])
    expect(await row.getByRole('button', { name }).count()).toBe(0)
  await judge()
  await close()
})

test('an admin who is not an owner allows the host with their own signature', async () => {
  const { row, judge, close } = await enter('grace', 'admin')
  await row.getByRole('button', { name: 'Sign and allow' }).click()
  await row.getByText('Allowed. Waiting for the next call…').waitFor()
  await judge()
  await close()
  const { chains, workspace } = employer.there
  expect([...(await chains.readNewerLinks(workspace)).allowlist]).toContain('team.example')
})

test('a plain workspace allows the host without a signed link', async () => {
  const { stage, ada, page, email } = employer
  await shared(stage.app.controlPlane, email, 'Old', false)
  const old = await elsewhere(stage.app.controlPlane, email, PASSWORD, 'Old')
  const body = { name: 'billing', workspace_id: old.workspace.id }
  const { id: projectId } = await old.api.call(createProject, { body })
  const terms = { environment: 'production', order: {}, places: [] }
  const { text } = await registerWithToken(old, { name: 'old-bot', projectId }, terms)
  await employer.call({ token: text, host: 'old.example' })
  await page.goto(`${stage.origin}/console/w/${old.workspace.id}/live`)
  const row = await opened(ada, 'old.example')
  await row.getByText('Allowed hosts of Old').waitFor()
  expect(await row.getByText('You sign this as link').count()).toBe(0)
  await ada.judge()
  await row.getByRole('button', { name: 'Sign and allow' }).click()
  await row.getByText('Allowed. Waiting for the next call…').waitFor()
  expect(await employer.call({ token: text, host: 'old.example' })).not.toBe('domain_blocked')
})
