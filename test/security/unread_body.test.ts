import { expect, test } from 'bun:test'
import { startTestApp } from '../support/app.ts'

test('a connection whose body was refused unread is closed, since a stop would wait for it', async () => {
  const app = await startTestApp()
  const response = await fetch(`${app.controlPlane}/api/auth/login/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"email":"${'x'.repeat(3_000_000)}"}`,
  })
  expect([response.status, response.headers.get('connection')]).toEqual([413, 'close'])
  await app.stop()
})
