/** Parts that show a value, a state or a figure. */
import { Ban } from 'lucide-react'
import { Ago } from '../parts/show/ago.tsx'
import { Avatar } from '../parts/show/avatar.tsx'
import { CodeBlock } from '../parts/show/code_block.tsx'
import { Command } from '../parts/show/command.tsx'
import { CopyButton } from '../parts/show/copy.tsx'
import { DiffBlock } from '../parts/show/diff_block.tsx'
import { EnvironmentLabel } from '../parts/show/environment_label.tsx'
import { SecretValue } from '../parts/show/secret_value.tsx'
import { Sparkline } from '../parts/show/sparkline.tsx'
import { Status } from '../parts/show/status.tsx'
import { Tag } from '../parts/show/tag.tsx'
import { UrlText } from '../parts/show/url.tsx'
import { Charts } from './charts.tsx'
import { Specimen, SpecimenGroup } from './specimen.tsx'

const DAY_MS = 86_400_000

export function ShownParts() {
  return (
    <SpecimenGroup title="Values and states">
      <Specimen
        of={['show/status', 'show/tag']}
        rule="A state is a word; a tag is a name as machines write it."
      >
        <Status tone="green">200</Status>
        <Status tone="red" icon={Ban}>
          Refused
        </Status>
        <Status tone="amber">Failed</Status>
        <Status tone="neutral">Signed</Status>
        <Status tone="green" dot>
          Live
        </Status>
        <Tag>STRIPE_KEY</Tag>
      </Specimen>
      <Specimen
        of={['show/environment_label', 'show/avatar', 'show/ago']}
        rule="The same color and form on every screen."
      >
        <EnvironmentLabel name="development" />
        <EnvironmentLabel name="staging" />
        <EnvironmentLabel name="production" />
        <Avatar name="Ada Lovelace" />
        <Avatar name="Acme" shape="square" size={22} />
        <Ago at={Date.now() - 12 * DAY_MS} />
        <Ago at={Date.now() - DAY_MS / 12} short />
      </Specimen>
      <Specimen
        of={['show/secret_value', 'show/copy', 'show/command']}
        rule="Masked; hides after 30 seconds. Copying does not show it."
      >
        <div className="w-full">
          <SecretValue name="GITHUB_TOKEN" read={async () => 'sample value'} onError={() => {}} />
        </div>
        <CopyButton text="svc_agt_…" name="Token ID" />
        <Command text="cloakroom secrets list" />
      </Specimen>
      <Specimen
        of={['show/code_block', 'show/diff_block']}
        rule="Lines wrap. A change has a sign and a word, not only a color."
      >
        <div className="flex w-full flex-col gap-3">
          <CodeBlock
            name="The call"
            language="curl"
            text="curl -x http://localhost:4030 https://api.github.com/user"
          />
          <DiffBlock
            rows={[
              { text: 'api.github.com' },
              { text: 'hooks.slack.com', change: 'added' },
              { text: 'old.example.com', change: 'removed' },
            ]}
          />
        </div>
      </Specimen>
      <Specimen
        of={['show/url', 'show/sparkline']}
        rule="The host has the darkest text. A line of bars is 7 days."
      >
        <UrlText method="GET" host="api.github.com" path="/repos/acme/api/pulls" />
        <Sparkline values={[12, 20, 16, 30, 26, 38, 44]} label="186 calls in 7 days" />
        <Sparkline size="panel" values={[12, 20, 16, 30, 26, 38, 44]} label="186 calls in 7 days" />
      </Specimen>
      <Charts />
    </SpecimenGroup>
  )
}
