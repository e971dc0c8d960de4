// tier: quick
/** `notify`: targets are added without their URL in an argument, tested, listed and removed. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sharedApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

const URL = 'https://hooks.example.com/very-secret'
let ada: Terminal

beforeAll(async () => {
  ada = await openAccount(await sharedApp(), 'ada@notices.example')
})
afterAll(() => ada.remove())

test('a webhook is added from standard input, tested, logged and removed', async () => {
  const added = await ada.run(
    ['notify', 'add', 'webhook', '-', '--events', 'call.refused, rekey.due'],
    {
      stdin: `${URL}\n`,
      reveals: true,
    },
  )
  expect(added).toMatchObject({ code: 0, err: '' })
  expect(added.out).toMatch(/^Added webhook hooks\.example\.com \([0-9a-f-]{36}\)\.\n/)
  expect(added.out).toMatch(/\nSigning key, shown once: [\w-]{43}\n/)
  expect(added.out).not.toContain('very-secret')
  const [target] = (await ada.json('notify', 'list')) as { id: string }[]
  const id = target?.id ?? ''
  expect(target).toEqual({
    id,
    type: 'webhook',
    host: 'hooks.example.com',
    events: ['call.refused', 'rekey.due'],
    created_at: expect.any(String),
  } as never)
  expect(await ada.must('notify', 'list')).toMatch(
    /webhook +hooks\.example\.com +call\.refused, rekey\.due/,
  )
  expect(await ada.must('notify', 'test', id)).toBe(
    `Queued. See the result: cloakroom notify log ${id}\n`,
  )
  expect(await ada.must('notify', 'log', id)).toContain('notice_target.test')
  expect(await ada.must('notify', 'log')).toContain(id)
  expect(await ada.must('notify', 'remove', id, '--yes')).toBe(
    'Removed. The target receives one last notice.\n',
  )
  expect(await ada.json('notify', 'list')).toEqual([])
  expect(await ada.run(['notify', 'test', id])).toMatchObject({ code: 4 })
})

test('an invalid type, event or URL is rejected with the valid ones', async () => {
  expect(await ada.run(['notify', 'add', 'pager', URL])).toMatchObject({
    code: 2,
    err: 'cloakroom: pager is not a notice type. (usage)\n→ use one of webhook, slack, discord, ntfy\n',
  })
  const events = await ada.run(['notify', 'add', 'slack', URL, '--events', 'all'])
  expect(events).toMatchObject({ code: 2 })
  expect(events.err).toStartWith(
    'cloakroom: all is not a notice event. (usage)\n→ use one of approval.requested,',
  )
  const plain = await ada.run(['notify', 'add', 'slack', 'http://hooks.example.com/very-secret'])
  expect(plain.code).not.toBe(0)
  expect(plain.err).not.toContain('very-secret')
  const nobody = await ada.run(['notify', 'add', 'slack'])
  expect(nobody).toMatchObject({ code: 2 })
  expect(nobody.err).toContain('pass - as the URL and write it to standard input')
})
