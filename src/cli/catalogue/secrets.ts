/** Secrets, and where they may go. */
import { command, type Group } from '../command.ts'
import {
  copyOptions,
  diffOptions,
  getOptions,
  policySetOptions,
  removeOptions,
  rollBackOptions,
  tokenOption,
  undeleteOptions,
} from './options.ts'
import { pullOptions, pushOptions, setOptions } from './storing.ts'

const secrets = () => import('../commands/secrets/secrets.ts')
const removal = () => import('../commands/secrets/remove.ts')
const secretHistory = () => import('../commands/secrets/history.ts')
const policy = () => import('../commands/policy.ts')
const allowlist = () => import('../commands/allowlist.ts')

export const secretGroups: readonly Group[] = [
  {
    name: 'secrets',
    about: 'secrets of an environment, encrypted and decrypted here',
    commands: [
      command({
        usage: 'set [pairs...]',
        about: 'create or replace secrets',
        examples: [
          'secrets set STRIPE_KEY=sk_live_1 MODE=live',
          'secrets set STRIPE_KEY',
          'secrets set PORT=8080 GREETING=hello --plain',
          "secrets set 'DATABASE_URL=postgres://app:${DB_PASSWORD}@db/app' --references",
          'secrets set DB_HOST=localhost --mine',
          'secrets set --from-file .env',
          'secrets set KEY=x --policy \'{"allowed_methods":["GET"]}\'',
        ],
        options: setOptions,
        action: async () => (await secrets()).set,
      }),
      command({
        usage: 'get <keys...>',
        about: 'print a value; several as dotenv',
        examples: [
          'secrets get STRIPE_KEY -e production',
          'secrets get STRIPE_KEY --version 2',
          'secrets get DB_USER DB_PASSWORD > db.env',
        ],
        options: getOptions,
        action: async () => (await import('../commands/secrets/get.ts')).get,
      }),
      command({
        usage: 'list',
        about: 'list the names',
        examples: ['secrets list', 'secrets list --json'],
        options: tokenOption,
        action: async () => (await secrets()).list,
      }),
      command({
        usage: 'delete <keys...>',
        about: 'delete secrets with their history; they can be restored for 7 days',
        examples: ['secrets delete OLD_KEY --yes', 'secrets delete DB_HOST --mine'],
        options: removeOptions,
        action: async () => (await removal()).remove,
      }),
      command({
        usage: 'undelete [name...]',
        names: 'secret',
        about: 'restore secrets that were deleted in the last 7 days; without names, list them',
        examples: [
          'secrets undelete',
          'secrets undelete OLD_KEY',
          'secrets undelete --all -e staging',
        ],
        options: undeleteOptions,
        action: async () => (await removal()).undelete,
      }),
      command({
        usage: 'copy <keys...>',
        about: 'copy secrets with their policies to another environment or project',
        examples: [
          'secrets copy STRIPE_KEY MODE --from staging --to production --dry-run',
          'secrets copy SMTP_PASSWORD --to-project billing',
        ],
        options: copyOptions,
        action: async () => (await import('../commands/secrets/copy.ts')).copy,
      }),
      command({
        usage: 'pull [path]',
        about: 'print every value, or write them to a file that only you may read',
        examples: ['secrets pull', 'secrets pull .env', 'secrets pull config.json --force'],
        options: pullOptions,
        action: async () => (await import('../commands/secrets/pull.ts')).pull,
      }),
      command({
        usage: 'push [path]',
        about: 'upload what is new or different in a file (.env unless given)',
        examples: ['secrets push', 'secrets push secrets.yaml --dry-run', 'secrets push --prune'],
        options: pushOptions,
        action: async () => (await import('../commands/secrets/push.ts')).push,
      }),
      command({
        usage: 'diff <from> <to>',
        about: 'compare names, values and policies of two environments, without showing values',
        examples: [
          'secrets diff development production',
          'secrets diff staging production --exit-code',
        ],
        options: diffOptions,
        action: async () => (await secretHistory()).diff,
      }),
      command({
        usage: 'history <key>',
        about: 'list the versions of a secret',
        examples: ['secrets history STRIPE_KEY'],
        action: async () => (await secretHistory()).history,
      }),
      command({
        usage: 'rollback <key> <version>',
        about: 'make an earlier version the newest; asks when its policy is another',
        examples: ['secrets rollback STRIPE_KEY 2', 'secrets rollback STRIPE_KEY 2 --yes'],
        options: rollBackOptions,
        action: async () => (await secretHistory()).rollBack,
      }),
    ],
  },
  {
    name: 'policy',
    about: 'where a secret may go, changed without typing its value again',
    commands: [
      command({
        usage: 'show <key>',
        about: 'show the policy of a secret, in words and field by field',
        examples: ['policy show STRIPE_KEY', 'policy show STRIPE_KEY -e production --json'],
        action: async () => (await policy()).show,
      }),
      command({
        usage: 'set <key>',
        about: "change fields of a policy, the others stay; '' allows nothing of a list",
        examples: [
          'policy set STRIPE_KEY --domains api.stripe.com --methods GET,POST --paths /v1',
          'policy set MAPS_KEY --locations query',
          'policy set DEPLOY_KEY --locations env',
          "policy set HOOK_SECRET --locations sign --sign-templates '{timestamp}.{body}'",
        ],
        options: policySetOptions,
        action: async () => (await policy()).set,
      }),
      command({
        usage: 'clear <key> [fields...]',
        about: 'take fields away; without any, all but the description and whether it is a setting',
        examples: ['policy clear STRIPE_KEY', 'policy clear STRIPE_KEY paths methods'],
        action: async () => (await policy()).clear,
      }),
    ],
  },
  {
    name: 'allowlist',
    about: 'domains that agents of the workspace may reach',
    commands: [
      command({
        usage: 'list',
        about: 'list the domains',
        examples: ['allowlist list'],
        action: async () => (await allowlist()).list,
      }),
      command({
        usage: 'add <domains...>',
        about: 'allow domains; without a port, port 443',
        examples: ['allowlist add api.stripe.com *.example.com api.internal:8443'],
        action: async () => (await allowlist()).add,
      }),
      command({
        usage: 'remove <domains...>',
        about: 'disallow domains',
        examples: ['allowlist remove api.stripe.com'],
        action: async () => (await allowlist()).remove,
      }),
      command({
        usage: 'log',
        about: 'list who allowed and disallowed what',
        examples: ['allowlist log'],
        action: async () => (await allowlist()).log,
      }),
    ],
  },
]
