// tier: quick
/** A credential in the path of a call is not returned in the links of the answer. */
import { afterAll, expect, test } from 'bun:test'
import { createAgentWithToken, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { forwardAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

const stage = await sharedStage()
afterAll(stage.stop)
const VALUE = marked('bot')
const agent = await createAgentWithToken(stage, { secrets: {} })
await agent.store('BOT', VALUE, { policy: { allowed_locations: ['path', 'query'] } })

test.each([
  ['a relative reference', 'next', 'next'],
  ['a query alone', '?offset=2', 'me?offset=2'],
  ['a fragment alone', '#top', 'me?a=SVC_SECRET_BOT#top'],
])('%s is joined to the path that the caller wrote', async (_, reference, expected) => {
  stage.upstream.on(
    `/bot/${VALUE}/me`,
    answerOf(302, { location: reference, 'content-location': reference, link: `<${reference}>` }),
  )
  const answer = await forwardAs(stage, agent, '/bot/SVC_SECRET_BOT/me?a=SVC_SECRET_BOT')
  const path = `/v1/forward/${stage.authorityOf()}/bot/SVC_SECRET_BOT/${expected}`
  const { origin } = new URL(stage.app.resolver)
  expect(answer.headers.get('location')).toBe(path)
  expect(answer.headers.get('content-location')).toBe(path)
  expect(answer.headers.get('link')).toBe(`<${origin}${path}>`)
  expect(JSON.stringify([...answer.headers])).not.toContain(VALUE)
})

test('a credential that white space splits in a link is not joined by the rewrite', async () => {
  const value = marked('sk_live_4eC39HqLyjWDarjtT1zdp7dc')
  await agent.store('PARTED', value)
  const parted = `${value.slice(0, 4)}\t${value.slice(4, 12)}\t${value.slice(12)}`
  const url = `https://${stage.authorityOf()}/next?key=${parted}`
  const headers = { location: url, 'content-location': url, link: `<${url}>; rel=next` }
  stage.upstream.on('/parted', answerOf(302, headers))
  const answer = await forwardAs(stage, agent, '/parted')
  expect(JSON.stringify([...answer.headers])).not.toContain(value)
  const path = `/v1/forward/${stage.authorityOf()}/next?key=SVC_SECRET_PARTED`
  expect(answer.headers.get('location')).toBe(path)
  expect(answer.headers.get('content-location')).toBe(path)
  expect(answer.headers.get('link')).toBe(
    `<${new URL(stage.app.resolver).origin}${path}>; rel=next`,
  )
})

test('a credential that path segments split is not joined by the rewrite', async () => {
  // Shown in parts, and so without the mark of the canary.
  const value = 'wJalrXUtnF/K7MDENGb'
  await agent.store('SLASHED', value)
  const location = `https://${stage.authorityOf()}/next/${value.replace('/', '/./')}`
  stage.upstream.on('/slashed', answerOf(302, { location }))
  const answer = await forwardAs(stage, agent, '/slashed')
  const path = `/v1/forward/${stage.authorityOf()}/next/SVC_SECRET_SLASHED`
  expect(answer.headers.get('location')).toBe(path)
})
