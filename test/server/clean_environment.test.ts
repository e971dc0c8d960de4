import { expect, test } from 'bun:test'
import { cleanEnvironment } from '../../src/server/clean_environment.ts'

test('a server keeps its compiled code while it rests, whatever the environment says', () => {
  const given = {
    PATH: '/usr/bin',
    BUN_INSTALL: '/opt/bun',
    BUN_JSC_forceCodeBlockLiveness: '0',
    BUN_JSC_forceCodeBlockToJettisonDueToOldAge: '1',
  }

  expect(cleanEnvironment(given)).toEqual({
    PATH: '/usr/bin',
    BUN_INSTALL: '/opt/bun',
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
    BUN_JSC_forceCodeBlockLiveness: '1',
  })
})
