/** Parts that screens are built from. */
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { AskError } from '../keys/ask.ts'
import { Button } from '../parts/button.tsx'
import { Banner } from '../parts/page/banner.tsx'
import { Card } from '../parts/page/card.tsx'
import { EmptyState } from '../parts/page/empty_state.tsx'
import { ErrorBoundary } from '../parts/page/error_boundary.tsx'
import { Facts } from '../parts/page/facts.tsx'
import { FailureNote } from '../parts/page/failure.tsx'
import { FilterChip, FilterChips } from '../parts/page/filter_chip.tsx'
import { FilterMenu } from '../parts/page/filter_menu.tsx'
import { Loading } from '../parts/page/loading.tsx'
import { NotFound } from '../parts/page/not_found.tsx'
import { ProgressMeter } from '../parts/page/progress.tsx'
import { Proof } from '../parts/page/proof.tsx'
import { InspectorSection } from '../parts/page/section.tsx'
import { SkeletonRows } from '../parts/page/skeleton.tsx'
import { Stat } from '../parts/page/stat.tsx'
import { Strip } from '../parts/page/strip.tsx'
import { Specimen, SpecimenGroup } from './specimen.tsx'

const refusal = new AskError({
  code: 'forbidden',
  message: 'You may not change this workspace.',
  fields: [],
  requestId: '01a2b3c4',
})

export function PageParts() {
  return (
    <SpecimenGroup title="Parts of a page">
      <Specimen of={['page/card']} rule="One subject, at most one action, 640 px.">
        <Card
          title="Password"
          description="Changing it ends all other sessions."
          action={<Button>Change</Button>}
        />
      </Specimen>
      <Specimen
        of={['page/facts', 'page/section', 'page/proof']}
        rule="Names first; codes and hashes are closed."
      >
        <InspectorSection title="Changed">
          <Facts
            rows={[
              ['Version', '3'],
              ['Changed', '12 days ago by Ada'],
            ]}
          />
          <Proof>
            <Facts rows={[['Link', <code key="link">9f2c…41ab</code>]]} />
          </Proof>
        </InspectorSection>
      </Specimen>
      <Specimen
        of={['page/filter_chip', 'page/filter_menu']}
        rule="Counts; a placeholder until they are read; amber for what needs someone."
      >
        <Chips />
      </Specimen>
      <Specimen of={['page/stat']} rule="A figure, then what it counts.">
        <div className="flex gap-8">
          <Stat value={128} label="calls, last hour" />
          <Stat value={5} label="refused" tone="red" />
          <Stat value={null} label="median" />
        </div>
      </Specimen>
      <Specimen of={['page/empty_state']} rule="One line, one action, the command.">
        <EmptyState
          icon={ShieldCheck}
          title="No allowed hosts yet"
          action={<Button kind="primary">Add host</Button>}
          command="cloakroom allowlist add api.github.com"
        />
      </Specimen>
      <Specimen of={['page/strip']} rule="One line above the content.">
        <Strip icon={ShieldCheck} action={<Button size="small">Dismiss</Button>}>
          <p>Ada changed the members.</p>
        </Strip>
      </Specimen>
      <Specimen of={['page/banner', 'page/failure']} rule="What failed and how to fix it.">
        <div className="flex w-full flex-col gap-2">
          <Banner>Lock after 15 minutes idle.</Banner>
          <Banner kind="warning">This token ends in 3 days.</Banner>
          <Banner kind="good">Signed history verified.</Banner>
          <FailureNote error={refusal} />
        </div>
      </Specimen>
      <Specimen
        of={['page/loading', 'page/progress']}
        rule="Nothing for 300 ms; then what is running."
      >
        <Loading />
        <div className="flex w-full flex-col gap-2">
          <ProgressMeter label="Importing 59 secrets" done={0.6} />
          <ProgressMeter label="Unlocking your keys…" />
        </div>
      </Specimen>
      <Specimen of={['page/not_found', 'page/error_boundary']} rule="A way back, and no dead end.">
        <ErrorBoundary>
          <NotFound />
        </ErrorBoundary>
      </Specimen>
      <Specimen of={['page/skeleton']} rule="Rows of the true height, 38 px." isWide>
        <SkeletonRows count={3} />
      </Specimen>
    </SpecimenGroup>
  )
}

function Chips() {
  const [chosen, setChosen] = useState('all')
  const [agent, setAgent] = useState<string>()
  return (
    <FilterChips label="Show">
      <FilterChip
        label="All"
        count={60}
        isSelected={chosen === 'all'}
        onPress={() => setChosen('all')}
      />
      <FilterChip
        label="Missing"
        count={15}
        tone="amber"
        isSelected={chosen === 'missing'}
        onPress={() => setChosen('missing')}
      />
      <FilterChip label="Unused 30 d" count={null} isSelected={false} onPress={() => {}} />
      <FilterMenu
        label="Agent"
        anyLabel="Any agent"
        options={['deploy-bot']}
        value={agent}
        onChange={setAgent}
      />
    </FilterChips>
  )
}
