/** Pictures of the ways in: unlocking, signing in, creating an account and the recovery key. */
import { PASSWORD } from '../../accounts.ts'
import { attachAuthenticator } from '../../authenticators.ts'
import { type Entry, pressLock } from '../entry.ts'

let registered = 0

export const entrances: Entry[] = [
  { name: 'sign-in', path: '/login' },
  {
    name: 'sign-in-error',
    path: '/login',
    prepare: async ({ page, field, button }) => {
      await field('E-mail address').fill('ada.lovelace@acme.example')
      await field('Password').fill('not her password at all')
      await button('Log in').click()
      await page.getByRole('alert').first().waitFor()
    },
  },
  { name: 'create-account', path: '/register' },
  {
    name: 'create-account-weak',
    path: '/register',
    prepare: async ({ page, field, button }) => {
      await field('E-mail address').fill('grace.hopper@acme.example')
      await field('Password').fill('password1')
      await button('Make an account').click()
      await page.getByText('not strong enough').waitFor()
    },
  },
  {
    name: 'recovery-key',
    path: '/register',
    prepare: async ({ page, field, button }) => {
      registered += 1
      await field('E-mail address').fill(`newcomer-${registered}@acme.example`)
      await field('Password').fill(PASSWORD)
      await button('Make an account').click()
      await page.getByRole('heading', { name: 'Your recovery key', level: 1 }).waitFor()
    },
  },
  { name: 'recover', path: '/recover' },
  { name: 'lock', seed: 'team', path: 'secrets', prepare: ({ page }) => pressLock(page) },
  {
    name: 'lock-with-passkey',
    seed: 'small',
    path: '/account',
    prepare: async ({ page, tools, field, button }) => {
      await attachAuthenticator({ tools }, true)
      await field('Name').fill('Laptop')
      await field('Your password').fill(PASSWORD)
      await button('Add a passkey').click()
      await page.getByText('Laptop', { exact: true }).waitFor()
      await pressLock(page)
    },
  },
  {
    name: 'locked-in-another-tab',
    seed: 'team',
    path: 'secrets',
    prepare: async ({ page }) => {
      const other = await page.context().newPage()
      await other.goto(page.url())
      await other.getByRole('heading', { level: 1 }).first().waitFor()
      await pressLock(other)
      await other.close()
      await page.getByText('Locked in another tab').waitFor()
    },
  },
]
