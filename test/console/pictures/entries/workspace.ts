/** Pictures of a workspace's other screens, each in the states that differ. */
import { signUp } from '../../accounts.ts'
import { insertCallTo } from '../calls.ts'
import type { Entry, Scene } from '../entry.ts'
import { callAs } from '../seeds.ts'

const LONG_URL = `https://api.github.com/search/code?q=${'cloakroom+'.repeat(36)}in:file`

async function startAgent({ page, field }: Scene, name: string): Promise<void> {
  await page.getByRole('region', { name: 'Permissions of this token' }).waitFor()
  await field('Name').fill(name)
}

/** @param email of a person who has an account and is no member */
async function startInvitation({ world, field }: Scene, email: string): Promise<void> {
  await signUp(world.stage.app.controlPlane, email)
  await field('Email').fill(email)
}

async function compareFingerprint(scene: Scene, email: string): Promise<void> {
  await startInvitation(scene, email)
  await scene.button('Continue').click()
  await scene.button('It matches, invite').waitFor()
}

/** Reviews what waits for the person, and waits until it can be signed. Only the first rows are shown at first. */
async function review({ page, button }: Scene, what: RegExp, sign = 'Sign and allow') {
  const wanted = page.getByRole('button', { name: what }).first()
  const more = page.getByRole('button', { name: /^Show \d+ more$/ })
  await wanted.or(more).first().waitFor()
  if (!(await wanted.isVisible())) await more.click()
  await wanted.click()
  await button(sign).waitFor()
}

const agents: Entry[] = [
  { name: 'agents-none', seed: 'empty', path: 'agents' },
  { name: 'agents', seed: 'team', path: 'agents' },
  { name: 'agents-30', seed: 'large', path: 'agents' },
  {
    name: 'agents-inspector',
    seed: 'team',
    path: 'agents',
    prepare: async ({ page }) => {
      await page.getByRole('row', { name: /deploy-bot/ }).click()
      await page.getByRole('region', { name: 'deploy-bot', exact: true }).waitFor()
    },
  },
  {
    name: 'agents-new-empty',
    seed: 'team',
    path: 'agents?make=new',
    prepare: async ({ page, button }) => {
      await button('Create token').click()
      await page.getByText('Name: this field is required.').waitFor()
    },
  },
  {
    name: 'agents-new-ready',
    seed: 'team',
    path: 'agents?make=new',
    prepare: (scene) => startAgent(scene, 'nightly-report'),
  },
  {
    name: 'agents-new-done',
    seed: 'small',
    path: 'agents?make=new',
    prepare: async (scene) => {
      await startAgent(scene, 'nightly-report')
      await scene.button('Create token').click()
      await scene.page.getByRole('heading', { name: 'Copy your token' }).waitFor()
    },
  },
  {
    name: 'agents-revoke',
    seed: 'large',
    path: 'agents',
    prepare: async ({ page, button }) => {
      await page.getByRole('row', { name: /claude-code/ }).click()
      await button('Actions for default').click()
      await page.getByRole('menuitem', { name: /^Revoke/ }).click()
      await page.getByRole('alertdialog').waitFor()
    },
  },
]

const live: Entry[] = [
  { name: 'live-quiet', seed: 'empty', path: 'live' },
  { name: 'live-busy', seed: 'team', path: 'live' },
  {
    name: 'live',
    mockUp: 'live',
    seed: 'team',
    path: 'live',
    prepare: (scene) => review(scene, /^Review hooks\.slack\.com/),
  },
  {
    name: 'live-approval',
    seed: 'team',
    path: 'live',
    prepare: (scene) => review(scene, /^Review POST api\.stripe\.com/),
  },
  {
    name: 'live-proposal',
    seed: 'team',
    path: 'live',
    prepare: (scene) => review(scene, /^Review .*discord/, 'Sign and accept'),
  },
  {
    name: 'live-allowed',
    seed: 'large',
    path: 'live',
    prepare: async (scene) => {
      const url = 'https://api.linear.app/graphql'
      await callAs(scene.world, scene.seed, 'deploy-bot', url, 'LINEAR_API_KEY')
      // A stream that was not open yet missed the call.
      await scene.page.reload()
      await review(scene, /^Review api\.linear\.app/)
      await scene.button('Sign and allow').click()
      await scene.page.getByText('Allowed. Waiting for the next call…').waitFor()
    },
  },
  {
    name: 'live-long-url',
    seed: 'small',
    path: 'live',
    prepare: async ({ page, world, seed }) => {
      await insertCallTo(world.stage.app.connection.sql, seed, LONG_URL)
      await page.reload()
      await page.getByRole('row').filter({ hasText: 'search/code' }).first().click()
      await page.getByRole('region', { name: /api\.github\.com/ }).waitFor()
    },
  },
  {
    name: 'live-disconnected',
    seed: 'team',
    path: 'live',
    prepare: async ({ page }) => {
      await page.route('**/live/', (route) => route.fulfill({ status: 503, body: '' }))
      await page.reload()
      await page.getByText('Reconnecting', { exact: true }).waitFor()
    },
  },
]

const others: Entry[] = [
  { name: 'overview-none', seed: 'empty', path: 'overview' },
  { name: 'overview-quiet', seed: 'small', path: 'overview' },
  { name: 'overview', seed: 'team', path: 'overview' },
  { name: 'allowed-hosts-none', seed: 'empty', path: 'allowlist' },
  { name: 'allowed-hosts', seed: 'team', path: 'allowlist' },
  {
    name: 'allowed-hosts-add',
    seed: 'team',
    path: 'allowlist',
    prepare: async ({ page, button, field }) => {
      await button('Add host').click()
      await field('Host').fill('https://api.linear.app/graphql?first=10')
      await page.getByText('Adds api.linear.app.').waitFor()
    },
  },
  {
    name: 'allowed-hosts-remove',
    seed: 'team',
    path: 'allowlist',
    prepare: async ({ page, button }) => {
      await button('Actions for api.github.com').click()
      await page.getByRole('menuitem', { name: 'Remove host' }).click()
      await page.getByText(/in the last 7 days would be refused/).waitFor()
    },
  },
  { name: 'members-alone', seed: 'empty', path: 'members' },
  { name: 'members', seed: 'team', path: 'members' },
  {
    name: 'members-inspector',
    seed: 'team',
    path: 'members',
    prepare: async ({ page }) => {
      await page.getByRole('rowheader', { name: /grace\.hopper/ }).click()
      await page.getByRole('heading', { name: /grace\.hopper/, level: 2 }).waitFor()
    },
  },
  {
    name: 'members-invite-1',
    seed: 'team',
    path: 'members?invite=new',
    prepare: (scene) => startInvitation(scene, 'tim.berners-lee@acme.example'),
  },
  {
    name: 'members-invite-2',
    seed: 'team',
    path: 'members?invite=new',
    prepare: (scene) => compareFingerprint(scene, 'radia.perlman@acme.example'),
  },
  {
    name: 'members-invite-3',
    seed: 'large',
    path: 'members?invite=new',
    prepare: async (scene) => {
      await compareFingerprint(scene, 'john.mccarthy@acme.example')
      await scene.button('It matches, invite').click()
      await scene.page.getByText(/^Waiting for .* to accept…$/).waitFor()
    },
  },
  { name: 'audit-none', seed: 'empty', path: 'audit' },
  { name: 'audit-1-day', seed: 'small', path: 'audit' },
  { name: 'audit', seed: 'team', path: 'audit' },
  {
    name: 'audit-import',
    seed: 'team',
    path: 'audit?action=secret.created',
    prepare: async ({ page }) => {
      await page
        .getByRole('row')
        .filter({ hasText: /\d\d secrets/ })
        .first()
        .click()
      await page.getByRole('button', { name: 'Close' }).last().waitFor()
    },
  },
  { name: 'audit-filtered-to-nothing', seed: 'team', path: 'audit?actor=nobody' },
  { name: 'history', seed: 'team', path: 'history' },
  { name: 'history-broken', seed: 'broken', path: 'history' },
  { name: 'settings', seed: 'team', path: 'settings' },
]

export const workspaceScreens: Entry[] = [...agents, ...live, ...others]
