/** People on this machine: their accounts, sessions and passwords. */
import { command, type Group, type Spec } from '../command.ts'
import {
  confirmOptions,
  deleteAccountOptions,
  endSessionOptions,
  entranceOptions,
  logOutOptions,
  passwordOptions,
  rotateKeysOptions,
  tokenOption,
  unlockOptions,
  useAccountOptions,
} from './options.ts'

const entrance = () => import('../commands/accounts/entrance.ts')
const who = () => import('../commands/accounts/who.ts')
const unlocking = () => import('../commands/accounts/unlock.ts')
const credentials = () => import('../commands/accounts/credentials.ts')
const sessions = () => import('../commands/accounts/sessions.ts')
const accounts = () => import('../commands/accounts/accounts.ts')

export const accountSpecs: readonly Spec[] = [
  command({
    usage: 'register <email>',
    about: 'create an account, with keys made on this machine',
    examples: [
      'register ada@example.com --server https://vault.example.com',
      'register ada@example.com --password-stdin < password.txt',
    ],
    options: entranceOptions,
    action: async () => (await entrance()).register,
  }),
  command({
    usage: 'login <email>',
    about: 'log in on this machine',
    examples: [
      'login ada@example.com',
      'login ada@example.com --server https://vault.example.com --name work',
    ],
    options: entranceOptions,
    action: async () => (await entrance()).login,
  }),
  command({
    usage: 'recover <email>',
    about: 'set a new password with the recovery key',
    examples: ['recover ada@example.com'],
    options: entranceOptions,
    action: async () => (await entrance()).recover,
  }),
  command({
    usage: 'logout',
    about: 'log out on this machine and at the server',
    examples: ['logout', 'logout --account work', 'logout --all'],
    options: logOutOptions,
    action: async () => (await import('../commands/accounts/exit.ts')).logOut,
  }),
  command({
    usage: 'whoami',
    about: 'show your account and the fingerprint of its public key',
    examples: ['whoami', 'whoami --account work --json'],
    options: tokenOption,
    action: async () => (await who()).whoAmI,
  }),
  command({
    usage: 'status',
    about: 'show server, resolver, session and project, and where each is set',
    examples: ['status', 'status --json'],
    options: tokenOption,
    action: async () => (await import('../commands/accounts/status.ts')).status,
  }),
  command({
    usage: 'unlock',
    about: 'enter the passphrase once for several commands',
    examples: ['unlock', 'unlock --for 30m'],
    options: unlockOptions,
    action: async () => (await unlocking()).unlock,
  }),
  command({
    usage: 'lock',
    about: 'forget the passphrase that unlock remembers',
    examples: ['lock'],
    action: async () => (await unlocking()).lock,
  }),
]

export const accountGroups: readonly Group[] = [
  {
    name: 'password',
    about: 'change your password',
    commands: [
      command({
        usage: 'change',
        about: 'choose another password; all other sessions end',
        examples: ['password change', 'password change --password-stdin < old-and-new.txt'],
        options: passwordOptions,
        action: async () => (await credentials()).changePassword,
      }),
    ],
  },
  {
    name: 'recovery',
    about: 'make a new recovery key',
    commands: [
      command({
        usage: 'new',
        about: 'make a new recovery key and show it once; the earlier one ends',
        examples: ['recovery new'],
        options: passwordOptions,
        action: async () => (await credentials()).newRecoveryKey,
      }),
    ],
  },
  {
    name: 'sessions',
    about: 'list and end your sessions',
    commands: [
      command({
        usage: 'list',
        about: 'list the sessions of the account, newest first',
        examples: ['sessions list'],
        action: async () => (await sessions()).list,
      }),
      command({
        usage: 'end [ids...]',
        about: 'end sessions on other machines',
        examples: [
          'sessions end 01a1f3c8-3a6e-7a54-bd5c-0e2f9c6b7d10',
          'sessions end --others --yes',
        ],
        options: endSessionOptions,
        action: async () => (await sessions()).end,
      }),
    ],
  },
  {
    name: 'account',
    about: 'accounts on this machine',
    commands: [
      command({
        usage: 'list',
        about: 'list the accounts that are logged in, and which one is used here',
        examples: ['account list', 'account list --json'],
        action: async () => (await accounts()).list,
      }),
      command({
        usage: 'use <account>',
        about: 'use an account from now on, or in one folder only',
        examples: ['account use work', 'account use work --here'],
        options: useAccountOptions,
        action: async () => (await accounts()).use,
      }),
      command({
        usage: 'remove <account>',
        about: 'log an account out, and forget which folders are its own',
        examples: ['account remove work', 'account remove work --yes'],
        options: confirmOptions,
        action: async () => (await accounts()).remove,
      }),
      command({
        usage: 'rotate-keys',
        about: 'make new keys for your account, sealed and signed everywhere; other sessions end',
        examples: [
          'account rotate-keys',
          'account rotate-keys --yes --password-stdin < password.txt',
          'account rotate-keys --keep-token 0190a2b4-7c1e-8d3f-9a5b-3c4d5e6f7a8b',
        ],
        options: rotateKeysOptions,
        action: async () => (await import('../commands/accounts/rotate_keys.ts')).rotate,
      }),
      command({
        usage: 'delete',
        about: 'delete your account at the server, with its personal workspace',
        examples: ['account delete', 'account delete --yes --password-stdin < password.txt'],
        options: deleteAccountOptions,
        action: async () => (await credentials()).deleteOwnAccount,
      }),
    ],
  },
]
