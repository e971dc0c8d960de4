/** The command that connects a secret at a terminal, for people whose console a server delivers. */
import { shellWord } from '../agents/shell_word.ts'

type CommandPlace = { workspace: string; project: string; environment: string; key: string }

/** Contains no secret: the command prompts for the client secret. */
type CommandChoice = {
  provider?: string | undefined
  url?: string | undefined
  issuer?: string | undefined
  authorizeUrl?: string | undefined
  tokenUrl?: string | undefined
  deviceUrl?: string | undefined
  clientId?: string | undefined
  scope?: string | undefined
  redirectUri?: string | undefined
  domains?: readonly string[] | undefined
  isPublic?: boolean | undefined
  device?: boolean | undefined
}

const OPTIONS = {
  provider: '--provider',
  url: '--url',
  issuer: '--issuer',
  authorizeUrl: '--authorize-url',
  tokenUrl: '--token-url',
  deviceUrl: '--device-url',
  clientId: '--client-id',
  scope: '--scope',
  redirectUri: '--redirect-uri',
} as const

export function connectCommand(place: CommandPlace, choice: CommandChoice): string {
  const named = Object.entries(OPTIONS).flatMap(([name, option]) => {
    const value = choice[name as keyof typeof OPTIONS]
    return value === undefined ? [] : `${option} ${shellWord(value)}`
  })
  return [
    `cloakroom connect ${shellWord(place.key)}`,
    ...named,
    ...(choice.isPublic ? ['--public-client'] : []),
    ...(choice.device ? ['--device'] : []),
    ...(choice.domains ? [`--domains ${choice.domains.map(shellWord).join(' ')}`] : []),
    '--allow',
    ...formatPlace(place),
  ].join(' ')
}

export function reconnectCommand(place: CommandPlace): string {
  return [`cloakroom secrets reconnect ${shellWord(place.key)}`, ...formatPlace(place)].join(' ')
}

function formatPlace({ workspace, project, environment }: CommandPlace): string[] {
  return [`-w ${shellWord(workspace)}`, `-p ${shellWord(project)}`, `-e ${shellWord(environment)}`]
}
