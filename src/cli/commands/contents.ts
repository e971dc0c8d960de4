/**
 * The table of contents that `cloakroom --help` and completion print: every usage with one line about it. It is separate from
 * the commands, so that printing it loads none of them.
 */
type Contents = Readonly<Record<string, string>>
type Group = { about: string; commands: Contents }

export const contents: Readonly<Record<string, Readonly<Record<string, string | Group>>>> = {
  Start: {
    demo: 'run a one-minute demo that leaves no traces',
    serve: 'start the server',
    'register <email>': 'create an account',
    'login <email>': 'sign in',
    logout: 'sign out',
    'recover <email>': 'set a new password with your recovery key',
    whoami: 'show your account and its fingerprint',
    status: 'show server, session, project and where each is set',
    'init <project>': 'create or choose the project for this folder',
    'link <project>': 'choose an existing project for this folder',
  },
  Secrets: {
    secrets: {
      about: 'secrets of an environment',
      commands: {
        'set [pairs...]': 'create or replace secrets',
        'get <keys...>': 'print one value, or several as dotenv',
        list: 'list the secrets by name',
        'delete <keys...>': 'delete secrets; you can restore them for 7 days',
        'undelete [name...]': 'restore deleted secrets, or list them',
        'copy <keys...>': 'copy secrets to another environment or project',
        'pull [path]': 'print all values or write them to a file',
        'push [path]': 'upload values from a file (default: .env)',
        'diff <from> <to>': 'compare two environments without printing values',
        'show <key>': 'show the kind and connection of a secret',
        'reconnect <key>': 'connect an OAuth secret again',
        'history <key>': 'list the versions of a secret',
        'rollback <key> <version>': 'make an earlier version current',
      },
    },
    env: {
      about: 'environments of a project',
      commands: {
        list: 'list the environments',
        'create <name>': 'create an empty environment',
        'delete <environment>': 'delete an environment with its secrets and tokens',
        'copy <from> <to>': 'copy all secrets to another environment',
        'use <environment>': 'use an environment in this folder',
      },
    },
    'connect <key>': 'connect OAuth, an MCP server, GitHub App or AWS role',
    'run [command...]': 'run a command with secrets as environment variables',
    inject: 'fill a template with secrets',
    policy: {
      about: 'rules for where a secret may be sent',
      commands: {
        'show <key>': 'show the policy of a secret',
        'set <key>': "change some policy fields; '' allows nothing",
        'clear <key> [fields...]': 'remove some policy fields or all restrictions',
      },
    },
    project: {
      about: 'projects of a workspace',
      commands: {
        list: 'list the projects',
        'create <name>': 'create a project',
        'use <project>': 'use a project in this folder',
        'rename <project> <name>': 'rename a project',
        'describe <project> <text>': 'set the description of a project',
        'delete <project>': 'delete a project; you can restore it for 7 days',
        'restore <name>': 'restore a deleted project within 7 days',
        'accept-name <project>': 'accept that a name now means another project',
      },
    },
  },
  Agents: {
    agent: {
      about: 'programs that use secrets without seeing values',
      commands: {
        'create <name>': 'create an agent and its first token',
        list: 'list the agents',
        'delete <agent>': 'delete an agent and revoke its tokens',
        'accept-name <agent>': 'accept that a name now means another agent',
        'setup <tool>': 'add cloakroom mcp to an AI tool',
      },
    },
    token: {
      about: 'tokens of an agent',
      commands: {
        'issue <agent>': 'create another token for an agent',
        'list <agent>': 'list the tokens',
        'revoke <agent> <token>': 'revoke a token',
        'grant <agent> <token>': 'grant a token access to an environment',
        'ungrant <agent> <token>': "remove a token's access to an environment",
      },
    },
    'workload-token': {
      about: 'tokens of containers and CI jobs',
      commands: {
        'issue <label>': 'create a workload token',
        list: 'list the tokens',
        'revoke <token>': 'revoke a token',
        'grant <token>': "restore a token's access after a rekey",
      },
    },
    allowlist: {
      about: 'hosts that agents may call',
      commands: {
        list: 'list the allowed hosts',
        'add <domains...>': 'add allowed hosts; the default port is 443',
        'remove <domains...>': 'remove allowed hosts',
        log: 'list who added and removed hosts',
      },
    },
    approvals: {
      about: 'agent requests to use secrets that need approval',
      commands: {
        list: 'list pending requests and active approvals',
        'show <request>': 'show the requested call and its secrets',
        'allow <request>': 'approve a call, or similar calls for a time',
        'deny <request>': 'deny a request',
        'revoke <request>': 'revoke an active approval',
        watch: 'decide requests as they arrive',
      },
    },
    proposals: {
      about: 'agent proposals for allowed hosts and secrets',
      commands: {
        list: 'list the open proposals',
        'show <proposal>': 'show a proposal and its reason',
        'accept <proposal>': 'allow the hosts and store the secrets',
        'reject <proposal>': 'reject a proposal',
        create: 'propose hosts or secrets, with an agent token',
      },
    },
    'call <url>': 'send an HTTP request with secrets by name',
    'proxy [command...]': 'run a proxy that inserts secrets into requests',
    mcp: 'serve MCP tools to an AI agent over stdio',
    'echo [command...]': 'run a local HTTPS API for tests',
    audit: {
      about: 'audit log of agents and people',
      commands: {
        list: 'list audit records, newest first',
        'show <record>': 'show all fields of one record',
        summary: 'count calls by agent, host and secret',
        export: 'export records as JSON lines',
        tail: 'print new records as they arrive',
      },
    },
  },
  'Team and account': {
    notify: {
      about: 'notices to Slack, Discord, ntfy or a webhook',
      commands: {
        'add <type> [url]': 'add a target; prompts for its secret URL',
        list: 'list the targets',
        'test <target>': 'send a test notice',
        'remove <target>': 'remove a target',
        'log [target]': 'list the notices of the last 7 days',
      },
    },
    workspace: {
      about: 'workspaces and their members',
      commands: {
        list: 'list your workspaces and invitations',
        'create <name>': 'create a shared workspace',
        'use <workspace>': 'use a workspace in this folder',
        'rename <workspace> <name>': 'rename a workspace',
        members: 'list the members',
        'invite <emails...>': 'invite people',
        'accept <workspace>': 'accept an invitation',
        'decline <workspace>': 'decline an invitation',
        'remove <member>': 'remove a member',
        'delete <workspace>': 'permanently delete a workspace for all members',
        'role <member> <role>': 'change the role of a member',
        rekey: 'replace the workspace key; deletes earlier secret versions',
        verify: 'verify a signed workspace',
        fingerprint: 'show the fingerprint that members compare',
        log: 'list signed changes and their signers',
        'accept-key <workspace>': 'compare and accept a changed workspace key',
        'accept-name <workspace>': 'accept that a name now means another workspace',
      },
    },
    account: {
      about: 'accounts on this machine',
      commands: {
        list: 'list the signed-in accounts',
        'use <account>': 'use an account by default or in one folder',
        'remove <account>': 'sign an account out and forget its folders',
        'rotate-keys': 'replace your account keys; ends other sessions',
        delete: 'delete your account and personal workspace',
      },
    },
    password: {
      about: 'change your password',
      commands: {
        change: 'change your password; ends other sessions',
      },
    },
    recovery: {
      about: 'manage your recovery key',
      commands: {
        'new': 'create a new recovery key; replaces the current one',
      },
    },
    sessions: {
      about: 'list and end your sessions',
      commands: {
        list: 'list your sessions, newest first',
        'end [ids...]': 'end sessions',
      },
    },
    console: 'serve the web console from this machine',
  },
  'This machine': {
    unlock: 'enter the passphrase once for several commands',
    lock: 'forget the passphrase',
    trust: 'trust the addresses in the project file',
    'config [setting] [value]': 'show, set or remove settings',
    'completion <shell>': 'print a completion script for bash, zsh or fish',
    version: 'print the version',
    'help [topic]': 'show a page of the documentation, or the help of a command',
  },
  Server: {
    settings: 'list all server settings',
    keygen: 'print new server keys for a .env file',
    health: 'check the server on this machine',
    doctor: 'find problems in server, settings and data',
    'self-check': 'check whether a server can run here',
    'backup <path>': 'back up the database, also while the server runs',
    'restore <path>': 'restore a backup to a stopped server',
    move: 'move data to PostgreSQL or back',
    upgrade: 'preview the database changes of an upgrade',
    'rekey-outer': 'reseal stored data with the first ENCRYPTION_KEY',
    calculate_metrics: 'recalculate and print the daily metrics',
  },
}
