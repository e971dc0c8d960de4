// tier: all
/** Executes the commands of docs/guides/notices.md, with a Slack webhook on this machine. */
import { expect, test } from 'bun:test'
import { openAccount } from '../cli/person.ts'
import { openStage } from '../support/agent.ts'
import { until } from '../support/until.ts'
import { linesOf } from './blocks.ts'

const HOST = 'hooks.slack.com'

test('the commands of the page add a Slack target, which receives a test notice', async () => {
  const stage = await openStage({ names: [HOST] })
  const ada = await openAccount(stage.app, 'ada@slack.example')
  const [add = '', list = '', send = '', log = ''] = linesOf('docs/guides/notices.md', 'targets')
  const url = stage.url('/services/T0/B0/very-secret', HOST)
  const added = await ada.type(add, [{ when: 'URL', type: `${url}\r` }])
  expect(added.code).toBe(0)
  expect(added.screen).toContain(`Added slack ${HOST}`)
  expect(added.screen).not.toContain('very-secret')
  const listed = await ada.shell(list)
  expect(listed.out).toMatch(/ slack +hooks\.slack\.com/)
  const [id = ''] = /[0-9a-f-]{36}/.exec(listed.out) ?? []
  expect(await ada.shell(send.replace('ID', id))).toMatchObject({ code: 0 })
  const { received } = stage.upstream
  await until(() => received.length > 0)
  expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /services/T0/B0/very-secret',
  ])
  expect(Buffer.from(received[0]?.body ?? []).toString()).toContain('"text":')
  await until(async () => /notice_target\.test +delivered/.test((await ada.shell(log)).out))
  ada.remove()
  await stage.stop()
}, 60_000)
