import type { VNode } from 'preact'
import { doButton } from '../boards/controls.ts'
import { renderCrumbs } from '../boards/crumbs.ts'
import type { People } from '../boards/people.ts'
import { renderAsked, renderQuestion } from '../boards/questions-view.ts'
import { badgeOf, renderBadge } from '../boards/work.ts'
import { html } from '../html.ts'
import type { ListedCard } from '../listed-card.ts'
import { createProse, plainWords } from '../markdown.ts'
import { renderDone } from '../operations/undo.ts'
import type { Reader } from '../reader.ts'
import { renderDistance } from '../times.ts'
import type { Agent, Agents } from './read.ts'

/** All that the page shows. */
interface ShownAgents extends Agents {
  readonly people: People
  /** the names of the boards of the cards that can be acted on */
  readonly boards: ReadonlyMap<string, string>
  /** card → what the person may do with it */
  readonly may: ReadonlyMap<string, ReadonlySet<string>>
  /** how many cards need a person and are not listed */
  readonly hidden: number
}

/** Cards that one agent holds, by their titles; the others are counted. */
const HELD = 5

/** @param version of what is shown: a script that has it already gets no page */
export function renderAgents(
  reader: Reader,
  shown: ShownAgents,
  { workspace, version }: Readonly<Record<'workspace' | 'version', string>>,
): VNode {
  const { agents, waiting, stuck, hidden, isComplete } = shown
  return html`<div id="agents" data-refreshed="15" data-version=${version} data-merge>
    ${renderCrumbs([['Boards', '/app'], [workspace]])}
    <h1 id="agents-title">Agents</h1>
    ${renderDone(reader.context)}
    <p class="hint" id="agents-hint">
      Tokens that worked in the last day${isComplete ? '' : ', on boards that you can see, and your own'}. Calls are counted since
      yesterday, and shown up to ten minutes later.
    </p>
    ${
      agents.length === 0
        ? html`<p class="empty" id="agents-empty">
            No token has worked in the last day. <a href="/settings/tokens/new?workspace=${reader.workspaceId}">Create a token</a>
          </p>`
        : html`<div class="trail" id="agents-list" data-merge>
            <table id="agents-table" data-merge>
              <thead id="agents-head">
                <tr>
                  <th scope="col">Agent</th>
                  <th scope="col">Works on</th>
                  <th scope="col">Calls</th>
                  <th scope="col">Last sign of life</th>
                  <th scope="col"><span class="unseen">Actions</span></th>
                </tr>
              </thead>
              <tbody id="agents-rows" data-merge>
                ${agents.map((agent) => renderAgent(reader, agent, shown))}
              </tbody>
            </table>
          </div>`
    }
    ${waiting.length > 0 && renderWaiting(reader, shown)} ${stuck.length > 0 && renderStuck(reader, shown)}
    ${hidden > 0 && html`<p class="hint" id="agents-more">More cards wait for a person: <a href="${reader.base}/cards?view=recent&work=waiting">questions</a>, <a href="${reader.base}/cards?view=recent&work=stuck">stuck</a>.</p>`}
  </div>` as VNode
}

function renderAgent({ base, context }: Reader, agent: Agent, { people }: ShownAgents): VNode {
  const { id, name, userId, holds, asks, failures, calls, seenAt, revoke, hasEnded } = agent
  const now = context.web.clock()
  const person = people.nameOf(userId)
  return html`<tr id=${id}>
    <td><strong class="agent" dir="auto">${name}</strong><span class="hint" dir="auto">${person}</span></td>
    <td>
      ${holds.slice(0, HELD).map((card) => html`<div><a href="${base}/cards/${card.id}" dir="auto">${card.title}</a> <span class="hint">since ${renderDistance(card.claim!.claimed_at, now)}</span></div>`)}
      ${holds.length > HELD && html`<span class="hint">and ${holds.length - HELD} more</span>`}
      ${asks.map((card) => html`<div>Waits for an answer: <a href="${base}/cards/${card.id}" dir="auto">${card.title}</a></div>`)}
      ${failures > 0 && html`<div class="fact failed">Failed ${failures === 1 ? 'once' : `${failures} times`}</div>`}
      ${holds.length + asks.length + failures === 0 && html`<span class="hint">no card</span>`}
    </td>
    <td>
      ${calls === undefined ? html`<span class="hint">not shown</span>` : html`${calls.all.toLocaleString('en')}${calls.refused > 0 && html`<span class="fact failed">${calls.refused.toLocaleString('en')} refused</span>`}`}
    </td>
    <td>${renderDistance(seenAt, now)}</td>
    <td>
      ${
        revoke !== undefined &&
        html`<a class="button danger small" href=${revoke}
          >Revoke<span class="unseen"> <bdi>${name}</bdi> of <bdi>${person}</bdi></span></a
        >`
      }
      ${hasEnded && html`<span class="hint">Revoked or expired</span>`}
    </td>
  </tr>` as VNode
}

function renderWaiting({ context }: Reader, { waiting, questions, boards, people, may }: ShownAgents): VNode {
  const prose = createProse({ nameOf: people.memberName })
  return html`<section class="questions" id="questions" aria-labelledby="questions-title" data-merge>
    <h2 id="questions-title">Open questions <span class="count">${waiting.length}</span></h2>
    <ul class="asked" id="asked" data-merge>
      ${waiting.map((card) => renderAsked({ context, may: may.get(card.id)! }, card, boards.get(card.board_id) ?? '', renderQuestion(questions.get(card.id)!, people, prose)))}
    </ul>
  </section>` as VNode
}

function renderStuck(reader: Reader, { stuck, boards, may, people }: ShownAgents): VNode {
  const { context, base } = reader
  const retry = ({ id, title }: ListedCard) =>
    doButton({ context, may: may.get(id)! }, 'cards.retry', { card_id: id }, 'Retry', { about: title })
  return html`<section id="stuck" aria-labelledby="stuck-title" data-merge>
    <h2 id="stuck-title">Stuck cards <span class="count">${stuck.length}</span></h2>
    <ul class="entries" id="stuck-cards" data-merge>
      ${stuck.map(
        (card) =>
          html`<li id="stuck-${card.id}">
            <div>
              <a class="found-title" dir="auto" href="${base}/cards/${card.id}">${card.title}</a>
              <span class="hint" dir="auto">${boards.get(card.board_id)}</span>
              ${renderBadge(badgeOf(card, undefined, context.web.clock())!, context.web.clock())}
              ${card.work?.reason != null && html`<p class="hint reason" dir="auto">${plainWords(card.work.reason, people.memberName)}</p>`}
            </div>
            <div class="actions">${retry(card)}</div>
          </li>`,
      )}
    </ul>
  </section>` as VNode
}
