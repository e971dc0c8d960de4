// tier: quick
/** Agent names that the console's worker remembers from calls. */
import { expect, test } from 'bun:test'
import type { Api } from '../../src/client/http/api.ts'
import type { BrowserMemory } from '../../src/console/web/keys/memory.ts'
import { SeenNames } from '../../src/console/web/keys/names.ts'
import { getAgent, listAgents, provisionAgentToken } from '../../src/features/agents/contract.ts'

test('an agent that the server shows under the name of another one gets no keys', async () => {
  let kept = {}
  const names = {
    of: () => kept,
    put: (_: string, change: (before: object) => object | undefined) => {
      kept = change(kept) ?? kept
    },
  }
  const known = new SeenNames(
    { names } as unknown as BrowserMemory,
    () => 'ada',
    () => {},
  )
  const bot = { id: 'a', name: 'bot' }
  let shown = bot
  const served = {
    list: async () => [bot, { id: 'b', name: 'deployer' }],
    call: async () => shown,
  }
  const api = known.wrap(served as unknown as Api)
  const agent = { workspace_id: 'w', registration_id: 'a' }
  const give = () =>
    api.call(provisionAgentToken, { params: { ...agent, token_id: 't' }, body: [] as never })
  await api.list(listAgents, { params: { workspace_id: 'w' } })
  await api.call(getAgent, { params: agent })
  await give()
  shown = { id: 'a', name: 'deployer' }
  await api.call(getAgent, { params: agent })
  await expect(give()).rejects.toThrow('deployer')
})
