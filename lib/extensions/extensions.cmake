# What stands behind the front. A row an extension: what it needs of others, and the files that the
# .def lists do not name, by the target that compiles them. WITHOUT_… files stand for it where it is
# not built, beside what the front declares and it defines.
#
# MEMREPLAY_EXTENSIONS: "all", a list of names, or empty.
set(MEMREPLAY_EXTENSION_KINDS TRACE PLANNER STRATEGY RUN QUESTIONS COMMANDS)

function(memreplay_extension name)
  set(without ${MEMREPLAY_EXTENSION_KINDS})
  list(TRANSFORM without PREPEND WITHOUT_)
  cmake_parse_arguments(arg "" "" "NEEDS;${MEMREPLAY_EXTENSION_KINDS};${without}" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY MEMREPLAY_ALL_EXTENSIONS ${name})
  set_property(GLOBAL PROPERTY MEMREPLAY_NEEDS_${name} "${arg_NEEDS}")
  foreach(kind IN LISTS MEMREPLAY_EXTENSION_KINDS without)
    list(TRANSFORM arg_${kind} REPLACE "^(.+)$" "${PROJECT_SOURCE_DIR}/lib/extensions/${name}/\\1.cpp")
    set_property(GLOBAL PROPERTY MEMREPLAY_${kind}_OF_${name} "${arg_${kind}}")
  endforeach()
endfunction()

memreplay_extension(calibrate
  QUESTIONS answer calibrate_json calibrate_text)
memreplay_extension(cub
  NEEDS cuda_async)
memreplay_extension(cuda_async
  STRATEGY completion)
memreplay_extension(diff
  QUESTIONS answer diff_json phrases recordings recordings_text requests strategies
            strategies_text)
memreplay_extension(gmlake)
memreplay_extension(heaps
  TRACE heaptrack_places live_heap pprof_profile proto_fields)
memreplay_extension(host_logs)
memreplay_extension(host_malloc)
memreplay_extension(hybrid
  NEEDS planner
  STRATEGY arena_device)
memreplay_extension(jax
  NEEDS cuda_async)
memreplay_extension(kineto
  TRACE kineto_events)
memreplay_extension(lifetimes
  TRACE buffer_lifetimes)
memreplay_extension(mcp
  COMMANDS mcp_requests mcp_tools)
memreplay_extension(messages
  TRACE bfc engines frameworks inference line_prefix messages packed_text pattern serving smi
        start_lines system tensorflow text_signs together torch
  QUESTIONS explained_messages kind_phrases message_advice message_judge message_sentences
            messages_text
  WITHOUT_QUESTIONS without)
memreplay_extension(minimise
  QUESTIONS minimise minimise_text minimised_recording story
  WITHOUT_QUESTIONS without)
memreplay_extension(nsight
  TRACE nsight_csv nsight_sqlite sqlite_file)
memreplay_extension(offload)
memreplay_extension(onnxruntime)
memreplay_extension(paddle)
memreplay_extension(page
  NEEDS ranks
  QUESTIONS answer blocks_picture brief page page_data trace_picture)
memreplay_extension(pinned)
memreplay_extension(planner
  PLANNER blocks endings exact_search ggml groups instant_gaps irreducible memories ordered
          partial_packing planner planning problem sections
  STRATEGY planned_region
  RUN floor_of_comparisons
  QUESTIONS plan/answer plan/plan_json plan/plan_page plan/plan_text
  WITHOUT_PLANNER without_plan
  WITHOUT_RUN without)
memreplay_extension(ranks
  QUESTIONS answer part ranks_json ranks_text request_stream
  COMMANDS ranks_beside
  WITHOUT_COMMANDS without)
memreplay_extension(record
  WITHOUT_COMMANDS without_command)
memreplay_extension(rmm
  WITHOUT_TRACE without)
memreplay_extension(shell
  COMMANDS completions script)
memreplay_extension(stacks)
memreplay_extension(stalloc
  NEEDS planner)
memreplay_extension(stress
  NEEDS minimise workloads
  QUESTIONS answer order stress_json stress_text work)
memreplay_extension(tensorflow
  NEEDS heaps
  TRACE xspace_events)
memreplay_extension(umpire
  NEEDS nsight
  TRACE umpire_line
  STRATEGY umpire_pool)
memreplay_extension(vulkan
  NEEDS heaps)
memreplay_extension(what_if
  RUN edit/autocast edit/block_edits edit/cast_types edit/checkpoint edit/code_instances edit/edit
      edit/forward_passes edit/offload edit/saved_tensors edit/segments edit/selector
      edit/weight_uses vary/calls vary/law_family vary/predict vary/restage vary/size_law vary/study
      vary/varied_program
  QUESTIONS find/answer find/find_json find/find_page find/find_text find/phrases suggest/answer
            suggest/fitting suggest/layers suggest/suggest_json suggest/suggest_text
  COMMANDS find_command
  WITHOUT_RUN without
  WITHOUT_COMMANDS without_command)
memreplay_extension(workloads
  TRACE adversary fragmentation inference random split_expandable training workload
  WITHOUT_TRACE without)
memreplay_extension(xla
  NEEDS heaps lifetimes
  TRACE xla_plan)

# Those that are built: what was asked for, and what they need.
get_property(all GLOBAL PROPERTY MEMREPLAY_ALL_EXTENSIONS)
set(MEMREPLAY_BUILT_EXTENSIONS ${MEMREPLAY_EXTENSIONS})
if(MEMREPLAY_EXTENSIONS STREQUAL "all")
  set(MEMREPLAY_BUILT_EXTENSIONS ${all})
endif()
set(asked ${MEMREPLAY_BUILT_EXTENSIONS})
while(asked)
  list(POP_FRONT asked name)
  if(NOT name IN_LIST all)
    message(FATAL_ERROR "MEMREPLAY_EXTENSIONS: there is no extension ${name}; expected all, or some of: ${all}")
  endif()
  get_property(needs GLOBAL PROPERTY MEMREPLAY_NEEDS_${name})
  foreach(other IN LISTS needs)
    if(NOT other IN_LIST MEMREPLAY_BUILT_EXTENSIONS)
      list(APPEND MEMREPLAY_BUILT_EXTENSIONS ${other})
      list(APPEND asked ${other})
    endif()
  endforeach()
endwhile()
set(MEMREPLAY_LEFT_OUT ${all})
list(REMOVE_ITEM MEMREPLAY_LEFT_OUT ${MEMREPLAY_BUILT_EXTENSIONS})

# Files of a kind, of all extensions that are built, and what stands for the others.
foreach(kind IN LISTS MEMREPLAY_EXTENSION_KINDS)
  set(MEMREPLAY_EXTENSION_${kind} "")
  foreach(name IN LISTS all)
    set(property MEMREPLAY_WITHOUT_${kind}_OF_${name})
    if(name IN_LIST MEMREPLAY_BUILT_EXTENSIONS)
      set(property MEMREPLAY_${kind}_OF_${name})
    endif()
    get_property(files GLOBAL PROPERTY ${property})
    list(APPEND MEMREPLAY_EXTENSION_${kind} ${files})
  endforeach()
endforeach()
