// tier: quick
import { expect, test } from 'bun:test'
import { version } from '../../package.json'
import { openApi } from '../../src/client/http/api.ts'
import { getResolverHealth } from '../../src/features/health/contract.ts'

test('every request of the client states its version', async () => {
  const seen: (string | null)[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ headers }) => {
      seen.push(headers.get('user-agent'))
      return new Response(null, { status: 500 })
    },
  })
  const api = openApi(`http://127.0.0.1:${server.port}`)
  await expect(api.call(getResolverHealth, {})).rejects.toThrow()
  expect(seen).toEqual([`cloakroom/${version}`])
  await server.stop(true)
})
