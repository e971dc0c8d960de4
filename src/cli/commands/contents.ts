/**
 * The table of contents, as `cloakroom --help` and completion show it: every usage with one line about it. It is apart from the
 * commands, so that showing it loads none of them.
 */
type Contents = Readonly<Record<string, string>>
type Group = { about: string; commands: Contents }

export const contents: Readonly<Record<string, Readonly<Record<string, string | Group>>>> = {
  Start: {
    demo: 'show how it works in one minute, and leave nothing behind',
    serve: 'start the server',
    'register <email>': 'create an account, with keys made on this machine',
    'login <email>': 'log in on this machine',
    logout: 'log out on this machine and at the server',
    'recover <email>': 'set a new password with the recovery key',
    whoami: 'show your account and the fingerprint of its public key',
    status: 'show server, resolver, session and project, and where each is set',
    'init <project>': 'create or choose the project of this folder',
    'link <project>': 'choose an existing project for this folder',
  },
  Secrets: {
    secrets: {
      about: 'secrets of an environment, encrypted and decrypted here',
      commands: {
        'set [pairs...]': 'create or replace secrets',
        'get <keys...>': 'print a value; several as dotenv',
        list: 'list the names',
        'delete <keys...>': 'delete secrets with their history; they can be restored for 7 days',
        'undelete [name...]':
          'restore secrets that were deleted in the last 7 days; without names, list them',
        'copy <keys...>': 'copy secrets with their policies to another environment or project',
        'pull [path]': 'print every value, or write them to a file that only you may read',
        'push [path]': 'upload what is new or different in a file (.env unless given)',
        'diff <from> <to>':
          'compare names, values and policies of two environments, without showing values',
        'show <key>': 'show the kind of a secret, and the state of a connection',
        'reconnect <key>': 'connect an OAuth secret again with what it has stored',
        'history <key>': 'list the versions of a secret',
        'rollback <key> <version>':
          'make an earlier version the newest; asks when its policy is another',
      },
    },
    env: {
      about: 'environments of a project',
      commands: {
        list: 'list the environments with the number of their secrets',
        'create <name>': 'make an environment before anything is stored in it',
        'delete <environment>':
          'delete an environment: secrets, which can be restored for 7 days, and its tokens',
        'copy <from> <to>': 'copy the secrets of an environment with their policies to another',
        'use <environment>': 'use an environment in this directory',
      },
    },
    'connect <key>': 'connect an OAuth provider, MCP server, GitHub App or AWS role',
    'run [command...]': 'run a command with the secrets in its environment variables',
    inject: 'fill a template with secrets: {{ NAME }} and svc://project/environment/NAME',
    policy: {
      about: 'where a secret may go, changed without typing its value again',
      commands: {
        'show <key>': 'show the policy of a secret, in words and field by field',
        'set <key>': "change fields of a policy, the others stay; '' allows nothing of a list",
        'clear <key> [fields...]':
          'take fields away; without any, all but the description and whether it is a setting',
      },
    },
    project: {
      about: 'projects of a workspace',
      commands: {
        list: 'list the projects',
        'create <name>': 'create a project',
        'use <project>': 'use a project in this directory',
        'rename <project> <name>': 'rename a project, in the project file of this directory too',
        'describe <project> <text>': 'say what a project is for',
        'delete <project>': 'delete a project with its secrets; they can be restored for 7 days',
        'restore <name>':
          'restore a project that was deleted in the last 7 days, if no rekey came after it',
        'accept-name <project>':
          'have a name stand for another project than when it was seen before',
      },
    },
  },
  Agents: {
    agent: {
      about: 'agents: programs that use credentials without seeing them',
      commands: {
        'create <name>': 'register an agent with a token for the chosen project and environment',
        list: 'list the agents',
        'delete <agent>': 'delete an agent and revoke its tokens',
        'accept-name <agent>': 'have a name stand for another agent than when it was seen before',
        'setup <tool>':
          'have claude-code, cursor, vscode, codex, gemini or opencode start cloakroom mcp; no token is written',
      },
    },
    token: {
      about: 'tokens of an agent',
      commands: {
        'issue <agent>': 'issue one more token for the chosen project and environment',
        'list <agent>': 'list the tokens',
        'revoke <agent> <token>': 'revoke a token, by its label or id',
        'grant <agent> <token>': 'give a token the key of the chosen project and environment',
        'ungrant <agent> <token>':
          'take the key of the chosen project and environment away from a token',
      },
    },
    'workload-token': {
      about: 'tokens of containers and CI jobs',
      commands: {
        'issue <label>': 'issue a token for the chosen project and environment',
        list: 'list the tokens',
        'revoke <token>': 'revoke a token, by its label or id',
        'grant <token>': 'give a token its key again, after a rekey',
      },
    },
    allowlist: {
      about: 'domains that agents of the workspace may reach',
      commands: {
        list: 'list the domains',
        'add <domains...>': 'allow domains; without a port, port 443',
        'remove <domains...>': 'disallow domains',
        log: 'list who allowed and disallowed what',
      },
    },
    approvals: {
      about: 'requests of agents to use secrets that need an approval',
      commands: {
        list: 'list the requests that wait, and approvals that are in use',
        'show <request>': 'show what will be sent, with which secrets, and who asks',
        'allow <request>': 'allow the call once, or similar calls for a time',
        'deny <request>': 'deny a request for an hour, or longer',
        'revoke <request>': 'end an approval that is in use',
        watch: 'wait for requests, and ask about each',
      },
    },
    proposals: {
      about: 'what agents ask to have allowed or added',
      commands: {
        list: 'list the open proposals',
        'show <proposal>': 'show a proposal with its reason',
        'accept <proposal>': 'allow its hosts, and store its secrets for these hosts',
        'reject <proposal>': 'reject a proposal; the same one stays rejected',
        create: 'ask members to allow hosts or to add secrets, with the token of an agent',
      },
    },
    'call <url>': 'send one request through the resolver, with secrets by name',
    'proxy [command...]': 'run a local proxy that replaces secret names with values',
    mcp: 'serve tools to an AI agent over the Model Context Protocol (stdio)',
    'echo [command...]': 'serve an HTTPS API for trials that prints and returns what it receives',
    audit: {
      about: 'what agents and people did',
      commands: {
        list: 'list records, newest first',
        'show <record>': 'show all of one record, by the id that list --json and --quiet print',
        summary: 'count requests by agent, domain and credential',
        export: 'print all records as JSON lines',
        tail: 'print new records as they come',
      },
    },
  },
  'Team and account': {
    notify: {
      about: 'messages to Slack, Discord, ntfy and webhooks about what needs a person',
      commands: {
        'add <type> [url]': 'add a target; its URL is a secret, so it is asked for',
        list: 'list the targets',
        'test <target>': 'send a test notice',
        'remove <target>': 'remove a target, by its ID',
        'log [target]': 'list what was sent in the last 7 days, and what failed',
      },
    },
    workspace: {
      about: 'workspaces and the people in them',
      commands: {
        list: 'list your workspaces and invitations',
        'create <name>': 'create a shared workspace; its key is made here',
        'use <workspace>': 'use a workspace in this directory',
        'rename <workspace> <name>': 'rename a workspace',
        members: 'list the members',
        'invite <emails...>': 'invite people; the workspace key is sealed to each of them here',
        'accept <workspace>': 'accept an invitation',
        'decline <workspace>': 'decline an invitation',
        'remove <member>': 'remove a member',
        'delete <workspace>':
          'permanently delete a shared workspace with everything in it, for all members',
        'role <member> <role>': 'change the role of a member',
        rekey: 'seal everything under a new key, after somebody left; earlier versions end',
        verify: 'check what the members of a signed workspace signed, and show where it leads',
        fingerprint: 'show what two members of a signed workspace compare, when one sees it first',
        log: 'list who changed what in a signed workspace, by their signatures',
        'accept-key <workspace>':
          "show a workspace's key for comparison; take one that is not the known one",
        'accept-name <workspace>':
          'have a name stand for another workspace than when it was seen before',
      },
    },
    account: {
      about: 'accounts on this machine',
      commands: {
        list: 'list the accounts that are logged in, and which one is used here',
        'use <account>': 'use an account from now on, or in one folder only',
        'remove <account>': 'log an account out, and forget which folders are its own',
        'rotate-keys':
          'make new keys for your account, sealed and signed everywhere; other sessions end',
        delete: 'delete your account at the server, with its personal workspace',
      },
    },
    password: {
      about: 'change your password',
      commands: {
        change: 'choose another password; all other sessions end',
      },
    },
    recovery: {
      about: 'make a new recovery key',
      commands: {
        'new': 'make a new recovery key and show it once; the earlier one ends',
      },
    },
    sessions: {
      about: 'list and end your sessions',
      commands: {
        list: 'list the sessions of the account, newest first',
        'end [ids...]': 'end sessions on other machines',
      },
    },
    console: 'open the web console from this program, for any server',
  },
  'This machine': {
    unlock: 'enter the passphrase once for several commands',
    lock: 'forget the passphrase that unlock remembers',
    trust: "use the server and resolver in this folder's project file",
    'config [setting] [value]': 'show settings and their sources, set one, or remove one',
    'completion <shell>': 'print a completion script for bash, zsh or fish',
    version: 'print the version; with --json also build details',
    'help [topic]': 'show a page of the documentation, or the help of a command',
  },
  Server: {
    settings: 'list every server setting with its meaning, default and an example',
    keygen: 'print new SECRET_KEY, ENCRYPTION_KEY and CRON_SECRET lines for a .env file',
    health: 'check the server that runs on this machine; exit code 0 or 1',
    doctor: 'check server, settings and data for problems; exit code 0, 1 or 78',
    'self-check': 'check whether the server can run here with these settings; exit code 0, 1 or 78',
    'backup <path>': "write the server's database to a file, also while it runs",
    'restore <path>': 'restore a backup while the server is stopped',
    move: 'move the stopped server to PostgreSQL, or back to the embedded database',
    upgrade: 'show what the next start will change in the database; exit code 0, 1 or 2',
    'rekey-outer': 'reseal stored data with the first ENCRYPTION_KEY, while the server runs',
    calculate_metrics: 'recompute the daily metrics and print them as JSON lines',
  },
}
