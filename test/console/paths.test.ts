// tier: all
/** Daily paths through the console, in clicks and in seconds by the keystroke-level model. */
import { expect } from 'bun:test'
import { requires } from '../support/requires.ts'
import { employ } from './elsewhere.ts'
import { HOST, openEmployer } from './employer.ts'
import { Path } from './keystrokes.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let employer: Awaited<ReturnType<typeof openEmployer>>

beforeAll(async () => {
  employer = await openEmployer('live')
})
afterAll(async () => {
  await employer.ada.close()
  await employer.stage.close()
})

test('a refused call is allowed with two clicks', async () => {
  const { page, button, call, there, projectId } = employer
  const token = await employ(there, projectId, 'deploy-bot')
  await page.getByText('Live', { exact: true }).waitFor()
  expect(await call({ token })).toBe('domain_blocked')
  const path = new Path(page)
  path.think()
  await path.click(button(/^Allow this/))
  path.think()
  await path.click(button('Sign and allow'))
  await page.getByText('Allowed: this no longer stops a call.').waitFor()
  expect(path.cost()).toEqual({ clicks: 2, keys: 0, seconds: 5.3, operators: 'MPBBMPBB' })
  const chain = await there.chains.continued(there.workspace)
  expect([...chain.allowlist]).toEqual([HOST])
})
