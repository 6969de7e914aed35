# Pawl: one line for each test of rspec and minitest, into PAWL_REPORT_DIR. It changes nothing else.
module PawlReport
  FOLDER = ENV["PAWL_REPORT_DIR"]
  NAME = Module.instance_method(:name)

  class << self
    # At the `end` of a runner's class or module its methods are there to be wrapped.
    def watch
      @trace = TracePoint.new(:end) { |point| look(point.self) }
      @trace.enable
    end

    def look(owner)
      case NAME.bind(owner).call
      when "RSpec::Core::Runner" then owner.prepend(Rspec) if owner.method_defined?(:run_specs)
      when "Minitest" then owner.singleton_class.prepend(Minitest) if owner.respond_to?(:__run)
      end
    rescue StandardError
      nil
    end

    # True for the outermost runner only.
    def start(runner, version)
      return false if @path
      require "json"
      @trace.disable
      @pid = Process.pid
      @path = File.join(FOLDER, format("%s-%d-%d.ndjson", runner, @pid, Time.now.to_f * 1e6))
      line(:ev => "start", :runner => runner, :version => version, :cwd => Dir.pwd)
      clean_environment
      true
    end

    # What the tests start must find no trace of us.
    def clean_environment
      (ENV.delete("PAWL_REPORT_VARS") || "").split.each { |name| ENV[name] = ENV.delete("PAWL_WAS_#{name}") }
      ENV.delete("PAWL_REPORT_DIR")
    end

    def test(file, name, status)
      line(:ev => "test", :file => file.to_s, :name => name.map { |part| part.to_s.scrub }, :status => status)
    end

    def finish(total)
      line(:ev => "end", :total => total)
      @path = nil
    end

    # Opened for each line: a test may close or reuse descriptors. A forked child is not the runner.
    def line(fields)
      return unless @path && Process.pid == @pid
      File.open(@path, "a", 0o600) { |file| file.syswrite("#{JSON.generate(fields)}\n") }
    rescue StandardError
      nil
    end
  end

  module Rspec
    def run_specs(groups)
      return super unless PawlReport.start("rspec", ::RSpec::Core::Version::STRING)
      @configuration.reporter.register_listener(Examples.new, :example_passed, :example_failed, :example_pending)
      status = super
      PawlReport.finish(@world.example_count(groups))
      status
    end
  end

  class Examples
    { :example_passed => "passed", :example_failed => "failed", :example_pending => "skipped" }.each do |event, status|
      define_method(event) do |notification|
        example = notification.example
        groups = example.example_group.parent_groups.reverse.map { |group| group.metadata[:description] }
        PawlReport.test(example.metadata[:absolute_file_path], groups << example.description, status)
      end
    end
  end

  module Minitest
    def __run(reporter, options)
      return super unless PawlReport.start("minitest", ::Minitest::VERSION)
      results = PawlReport.results
      reporter.reporters << results
      ended = super
      PawlReport.finish(results.count)
      ended
    end
  end

  # Made when minitest is there.
  def self.results
    Class.new(::Minitest::AbstractReporter) do
      attr_reader :count

      def record(result)
        @count = (@count || 0) + 1
        status = result.skipped? ? "skipped" : result.passed? ? "passed" : "failed"
        owner = result.respond_to?(:klass) ? result.klass : result.class.name
        place = result.respond_to?(:source_location) ? result.source_location : result.method(result.name).source_location
        PawlReport.test(place.first == "unknown" ? "" : place.first, [owner, result.name.sub(/\Atest_\d{4}_/, "")], status)
      end
    end.new
  end
end

PawlReport.watch if PawlReport::FOLDER
