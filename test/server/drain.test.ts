// tier: quick
import { expect, test } from 'bun:test'
import { startTestApp } from '../support/app.ts'
import { FakeTimers } from '../support/fake_timers.ts'

test('a stopping server reports so in its health, still answers, closes idle connections, and then closes its ports', async () => {
  const timers = new FakeTimers()
  const app = await startTestApp({ DRAIN_SECONDS: '60' }, { timers })
  const { controlPlane, resolver } = app
  const health = `${controlPlane}/api/status/health/`
  const before = await fetch(health)
  expect({ status: before.status, kept: before.headers.get('connection') }).toEqual({
    status: 200,
    kept: null,
  })
  const stopped = app.stop()
  for (const url of [health, `${resolver}/healthz`]) {
    const answer = await fetch(url)
    expect({ status: answer.status, kept: answer.headers.get('connection') }).toEqual({
      status: 503,
      kept: 'close',
    })
  }
  const answer = await fetch(`${controlPlane}/api/instance/`)
  expect({ status: answer.status, kept: answer.headers.get('connection') }).toEqual({
    status: 200,
    kept: 'close',
  })
  await timers.advance(59_999)
  expect((await fetch(health)).status).toBe(503)
  await timers.advance(1)
  await stopped
  await expect(fetch(health)).rejects.toThrow()
})

test('without DRAIN_SECONDS a server stops without a wait', async () => {
  const app = await startTestApp()
  const stopped = app.stop()
  await stopped
  await expect(fetch(app.controlPlane)).rejects.toThrow()
})
