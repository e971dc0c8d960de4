/** Workspaces, projects and environments. */
import { roleHelp } from '../../client/role_table.ts'
import { command, type Group } from '../command.ts'
import {
  confirmOptions,
  copyEnvironmentOptions,
  inviteOptions,
  rekeyOptions,
  removeMemberOptions,
  roleOptions,
} from './options.ts'

const workspaces = () => import('../commands/teams/workspaces.ts')
const members = () => import('../commands/teams/members.ts')
const signed = () => import('../commands/teams/signed.ts')
const workspaceKey = () => import('../commands/teams/workspace_key.ts')
const acceptName = () => import('../commands/teams/accept_name.ts')
const projects = () => import('../commands/teams/projects.ts')
const environments = () => import('../commands/teams/environments.ts')

export const teamGroups: readonly Group[] = [
  {
    name: 'workspace',
    about: 'workspaces and the people in them',
    commands: [
      command({
        usage: 'list',
        about: 'list your workspaces and invitations',
        examples: ['workspace list'],
        action: async () => (await workspaces()).list,
      }),
      command({
        usage: 'create <name>',
        names: 'workspace',
        about: 'create a shared workspace; its key is made here',
        examples: ['workspace create acme'],
        options: confirmOptions,
        action: async () => (await workspaces()).create,
      }),
      command({
        usage: 'use <workspace>',
        about: 'use a workspace in this directory',
        examples: ['workspace use acme'],
        action: async () => (await workspaces()).use,
      }),
      command({
        usage: 'rename <workspace> <name>',
        names: 'workspace',
        about: 'rename a workspace',
        examples: ['workspace rename acme "Acme Payments"'],
        action: async () => (await workspaces()).rename,
      }),
      command({
        usage: 'members',
        details: roleHelp,
        about: 'list the members',
        examples: ['workspace members', 'workspace members -w acme --json'],
        action: async () => (await members()).list,
      }),
      command({
        usage: 'invite <emails...>',
        details: roleHelp,
        about: 'invite people; the workspace key is sealed to each of them here',
        examples: ['workspace invite grace@example.com alan@example.com --role member'],
        options: inviteOptions,
        action: async () => (await members()).invite,
      }),
      command({
        usage: 'accept <workspace>',
        about: 'accept an invitation',
        examples: ['workspace accept acme'],
        action: async () => (await workspaces()).accept,
      }),
      command({
        usage: 'decline <workspace>',
        about: 'decline an invitation',
        examples: ['workspace decline acme'],
        action: async () => (await workspaces()).decline,
      }),
      command({
        usage: 'remove <member>',
        about: 'remove a member',
        examples: ['workspace remove alan@example.com --yes'],
        options: removeMemberOptions,
        action: async () => (await members()).remove,
      }),
      command({
        usage: 'delete <workspace>',
        about: 'delete a shared workspace with everything in it, for all members and for good',
        examples: ['workspace delete acme', 'workspace delete acme --yes'],
        options: confirmOptions,
        action: async () => (await workspaces()).removeAll,
      }),
      command({
        usage: 'role <member> <role>',
        details: roleHelp,
        about: 'change the role of a member',
        examples: ['workspace role grace@example.com admin'],
        options: roleOptions,
        action: async () => (await members()).role,
      }),
      command({
        usage: 'rekey',
        about: 'seal everything under a new key, after somebody left; earlier versions end',
        examples: ['workspace rekey', 'workspace rekey --yes'],
        options: rekeyOptions,
        action: async () => (await workspaceKey()).rekeyAll,
      }),
      command({
        usage: 'verify',
        about: 'check what the members of a signed workspace signed, and show where it leads',
        examples: ['workspace verify', 'workspace verify -w acme --json'],
        action: async () => (await signed()).verify,
      }),
      command({
        usage: 'fingerprint',
        about: 'show what two members of a signed workspace compare, when one sees it first',
        examples: ['workspace fingerprint -w acme'],
        action: async () => (await signed()).fingerprint,
      }),
      command({
        usage: 'log',
        about: 'list who changed what in a signed workspace, by their signatures',
        examples: ['workspace log', 'workspace log -w acme --json'],
        action: async () => (await signed()).log,
      }),
      command({
        usage: 'accept-key <workspace>',
        about: "show a workspace's key for comparison; take one that is not the known one",
        examples: ['workspace accept-key acme'],
        options: confirmOptions,
        action: async () => (await workspaceKey()).acceptKey,
      }),
      command({
        usage: 'accept-name <workspace>',
        about: 'have a name stand for another workspace than when it was seen before',
        examples: ['workspace accept-name 0190c3a5-7b3e-8d2f-a1c4-5e6f7a8b9c0d'],
        options: confirmOptions,
        action: async () => (await acceptName()).ofWorkspace,
      }),
    ],
  },
  {
    name: 'project',
    about: 'projects of a workspace',
    commands: [
      command({
        usage: 'list',
        about: 'list the projects',
        examples: ['project list'],
        action: async () => (await projects()).listAll,
      }),
      command({
        usage: 'create <name>',
        names: 'project',
        about: 'create a project',
        examples: ['project create payments'],
        action: async () => (await projects()).createOne,
      }),
      command({
        usage: 'use <project>',
        about: 'use a project in this directory',
        examples: ['project use payments'],
        action: async () => (await projects()).use,
      }),
      command({
        usage: 'rename <project> <name>',
        names: 'project',
        about: 'rename a project, in the project file of this directory too',
        examples: ['project rename payments billing'],
        action: async () => (await projects()).rename,
      }),
      command({
        usage: 'describe <project> <text>',
        about: 'say what a project is for',
        examples: ['project describe payments "Cards and invoices"'],
        action: async () => (await projects()).describe,
      }),
      command({
        usage: 'delete <project>',
        about: 'delete a project with its secrets; they can be restored for 7 days',
        examples: ['project delete payments --yes'],
        options: confirmOptions,
        action: async () => (await projects()).remove,
      }),
      command({
        usage: 'restore <name>',
        names: 'project',
        about: 'restore a project that was deleted in the last 7 days, if no rekey came after it',
        examples: ['project restore payments'],
        action: async () => (await projects()).restore,
      }),
      command({
        usage: 'accept-name <project>',
        about: 'have a name stand for another project than when it was seen before',
        examples: ['project accept-name payments'],
        options: confirmOptions,
        action: async () => (await acceptName()).ofProject,
      }),
    ],
  },
  {
    name: 'env',
    about: 'environments of a project',
    commands: [
      command({
        usage: 'list',
        about: 'list the environments with the number of their secrets',
        examples: ['env list'],
        action: async () => (await environments()).list,
      }),
      command({
        usage: 'create <name>',
        names: 'environment',
        about: 'make an environment before anything is stored in it',
        examples: ['env create preview'],
        action: async () => (await environments()).create,
      }),
      command({
        usage: 'delete <environment>',
        about: 'delete an environment: secrets, which can be restored for 7 days, and its tokens',
        examples: ['env delete preview', 'env delete preview --yes'],
        options: confirmOptions,
        action: async () => (await environments()).remove,
      }),
      command({
        usage: 'copy <from> <to>',
        about: 'copy the secrets of an environment with their policies to another',
        examples: [
          'env copy staging production --dry-run',
          'env copy staging production --only STRIPE_KEY,MODE --force',
          'env copy production production --to-project billing',
        ],
        options: copyEnvironmentOptions,
        action: async () => (await import('../commands/secrets/copy.ts')).copyAll,
      }),
      command({
        usage: 'use <environment>',
        about: 'use an environment in this directory',
        examples: ['env use staging', 'env use preview --yes'],
        options: confirmOptions,
        action: async () => (await environments()).use,
      }),
    ],
  },
]
