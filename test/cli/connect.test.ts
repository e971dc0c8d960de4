// tier: all
/** `cloakroom connect` runs the flows of OAuth and stores a root that calls derive from. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type ConnectStage, openConnectStage } from './connecting.ts'

let stage: ConnectStage

beforeAll(async () => {
  stage = await openConnectStage()
})
afterAll(() => stage.stop())
afterEach(() => stage.provider.clearFaults())

describe('connect', () => {
  test('The code flow stores a root with the refresh token and the policy', async () => {
    const { code, err } = await stage.connect(['DRIVE', ...stage.given])
    expect({ code, err }).toMatchObject({ code: 0 })
    const page = await stage.pages.at(-1)
    expect(page?.text).toContain('Connected. You can close this page.')
    const root = await stage.root('DRIVE')
    expect(root).toMatchObject({
      token_url: stage.provider.tokenUrl,
      client_id: stage.provider.clientId,
      client_secret: stage.provider.clientSecret,
    })
  })
})
