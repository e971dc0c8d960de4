/** Pictures of a workspace's screens, each in the states that differ. */

import { insertCallTo } from '../calls.ts'
import type { Entry } from '../entry.ts'
import { LONG_NAME } from '../names.ts'

const LONG_URL = `https://api.github.com/search/code?q=${'cloakroom+'.repeat(36)}in:file`

export const workspaceScreens: Entry[] = [
  { name: 'first-run', seed: 'empty', path: 'first-steps' },
  { name: 'secrets-none', seed: 'empty', path: 'secrets' },
  { name: 'secrets-one', seed: 'small', path: 'secrets' },
  { name: 'secrets', seed: 'team', path: 'secrets' },
  { name: 'secrets-1000', seed: 'large', path: 'secrets' },
  { name: 'secrets-long-name', seed: 'team', path: `secrets?find=${LONG_NAME}` },
  { name: 'agents-none', seed: 'empty', path: 'agents' },
  { name: 'agents', seed: 'team', path: 'agents' },
  { name: 'agents-30', seed: 'large', path: 'agents' },
  { name: 'live-quiet', seed: 'empty', path: 'live' },
  { name: 'live', seed: 'team', path: 'live' },
  {
    name: 'live-long-url',
    seed: 'small',
    path: 'live',
    prepare: async ({ page, world, seed }) => {
      await insertCallTo(world.stage.app.connection.sql, seed, LONG_URL)
      await page.reload()
    },
  },
  {
    name: 'live-disconnected',
    seed: 'team',
    path: 'live',
    prepare: ({ page }) => page.context().setOffline(true),
  },
  { name: 'allowed-hosts-none', seed: 'empty', path: 'allowlist' },
  { name: 'allowed-hosts', seed: 'team', path: 'allowlist' },
  { name: 'members-alone', seed: 'empty', path: 'members' },
  { name: 'members', seed: 'team', path: 'members' },
  { name: 'audit-none', seed: 'empty', path: 'audit' },
  { name: 'audit-1-day', seed: 'small', path: 'audit' },
  { name: 'audit', seed: 'team', path: 'audit' },
  { name: 'audit-filtered-to-nothing', seed: 'team', path: 'audit?actor=nobody' },
  { name: 'history', seed: 'team', path: 'history' },
  { name: 'history-broken', seed: 'broken', path: 'history' },
]
