/** Writes docs/reference/settings.md from the declarations: `bun src/dev/settings_docs.ts`. A test fails while it is stale. */
import { join } from 'node:path'
import { documentConfig } from '../core/config/config.ts'

export const SETTINGS_DOCS = join(import.meta.dir, '../../docs/reference/settings.md')

const HEAD = `<!-- Written by src/dev/settings_docs.ts from the declarations: do not edit. -->

# Server settings

The server reads its settings from environment variables at start. \`cloakroom settings\` prints the same tables; \`cloakroom settings --json\` adds an example of each.

\`\`\`sh
SERVICE_SETTINGS=production DB_HOST=db.internal cloakroom serve
cloakroom self-check
\`\`\`

- Empty variables count as unset.
- **required**: must be set with \`SERVICE_SETTINGS=production\`. \`DB_NAME\`, \`DB_USER\`, \`SECRET_KEY\` and \`ENCRYPTION_KEY\` are also required with \`DB_HOST\`.
- **†**: a secret. Set \`NAME_FILE\` instead to read it from a file of at most 65,536 bytes.
- \`CLOAKROOM_*\` names work like \`SERVICE_*\` names.
- An invalid setting stops the start with exit code 78. The message names each problem, never a value.
`

export function renderSettingsDocs(): string {
  return `${HEAD}\n${documentConfig()}\n`
}

if (import.meta.main) await Bun.write(SETTINGS_DOCS, renderSettingsDocs())
